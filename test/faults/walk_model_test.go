package faults_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/test/scenarios"
)

type observedState struct {
	versions map[types.UID]uint64                     // the last resourceVersion of each object, including deleted objects
	byName   map[string]*unstructured.Unstructured    // the existing objects, by kind and name
	byUID    map[types.UID]*unstructured.Unstructured // the existing objects, by UID
}

func observe(history []record.ObjectVersion) *observedState {
	s := &observedState{map[types.UID]uint64{}, map[string]*unstructured.Unstructured{}, map[types.UID]*unstructured.Unstructured{}}
	for _, version := range history {
		s.versions[version.GetUID()] = number(version.GetResourceVersion())
		if version.Deleted {
			delete(s.byUID, version.GetUID())
		} else {
			s.byUID[version.GetUID()] = version.Unstructured
		}
	}
	for _, object := range s.byUID {
		s.byName[object.GetKind()+"/"+object.GetName()] = object
	}
	return s
}

func number(resourceVersion string) uint64 {
	number, _ := strconv.ParseUint(resourceVersion, 10, 64)
	return number
}

func (w *walk) mismatch() error {
	s := observe(w.history.Versions(w.namespace))
	for uid, version := range w.writtenVersions {
		if s.versions[uid] < number(version) {
			return fmt.Errorf("version %s of object %s has not been observed yet", version, uid)
		}
	}
	for uid := range w.deleted {
		if object := s.byUID[uid]; object != nil {
			return fmt.Errorf("deleted %s %s still exists", object.GetKind(), object.GetName())
		}
	}
	expected := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(w.existing)) {
		r := w.existing[name]
		expected[r.Kind+"/"+r.name] = true
		for _, child := range r.children() {
			expected[child+"/"+r.childName(child)] = true
		}
		if err := r.mismatch(s); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return cmp.Or(s.leftovers(expected), w.lostEdits(s))
}

func (r *liveResource) mismatch(s *observedState) error {
	object := s.byUID[r.uid]
	if object == nil {
		return errors.New("the resource no longer exists")
	}
	status, err := scenarios.Observe(object)
	if err != nil {
		return err
	}
	available := workload.ReasonPodsReady
	if r.pods == 0 {
		available = workload.ReasonScaledToZero
	}
	children, err := r.childrenIn(s)
	switch {
	case err != nil:
		return err
	case !hasField(r.pods, "spec", r.Replicas)(object), !hasField(r.image, "spec", "image")(object):
		return fmt.Errorf("spec: got %v, want %d Pods of %s", object.Object["spec"], r.pods, r.image)
	case status.ObservedGeneration != object.GetGeneration(),
		!hasReason(status.Conditions, workload.Available, available),
		!hasReason(status.Conditions, workload.Progressing, workload.ReasonComplete),
		!hasReason(status.Conditions, workload.Degraded, workload.ReasonAsExpected):
		return fmt.Errorf("status: got %s, want Complete", formatStatus(status.Status, object.GetGeneration()))
	}
	deployment := children["Deployment"]
	pods := s.podsOf(deployment)
	switch {
	case !hasField(r.pods, "spec", "replicas")(deployment), !hasImage(r.image)(deployment):
		return errors.New("the replicas or the image of the Deployment differ from the spec")
	case int64(len(pods)) != r.pods, int64(status.Replicas) != r.pods, int64(status.ReadyReplicas) != r.pods, !slices.Equal(pods, status.Nodes):
		return fmt.Errorf("Pods: got %v, status.nodes %v, %d ready, want %d", pods, status.Nodes, status.ReadyReplicas, r.pods)
	}
	if service := children["Service"]; service != nil {
		ports, _, _ := unstructured.NestedSlice(service.Object, "spec", "ports")
		if len(ports) != 1 || ports[0].(map[string]any)["nodePort"] != int64(status.NodePort) {
			return fmt.Errorf("node port: got %d in the status, but %v in the Service", status.NodePort, ports)
		}
	}
	return nil
}

func formatStatus(status workload.Status, generation int64) string {
	line := fmt.Sprintf("observed %d of %d", status.ObservedGeneration, generation)
	for _, c := range status.Conditions {
		line += fmt.Sprintf(", %s=%s because of %s", c.Type, c.Status, c.Reason)
	}
	return line
}

// childrenIn returns the resource's children by kind. It returns an error if a child is not controlled by the resource
// or still contains one of the tamperingEdits.
func (r *liveResource) childrenIn(s *observedState) (map[string]*unstructured.Unstructured, error) {
	children := map[string]*unstructured.Unstructured{}
	for _, kind := range r.children() {
		child := s.byName[kind+"/"+r.childName(kind)]
		if child == nil {
			return nil, fmt.Errorf("the %s is missing", kind)
		}
		if owner := metav1.GetControllerOf(child); owner == nil || owner.UID != r.uid {
			return nil, fmt.Errorf("the %s is not controlled by the resource", kind)
		}
		children[kind] = child
		for _, e := range tamperingEdits {
			if e.childKind == kind && e.isVisible(child) {
				return nil, fmt.Errorf("the %s still has the edit %q", kind, e.description)
			}
		}
	}
	return children, nil
}

func (s *observedState) podsOf(deployment *unstructured.Unstructured) []string {
	var names []string
	for _, object := range s.byUID {
		if object.GetKind() != "Pod" || object.GetDeletionTimestamp() != nil {
			continue
		}
		set := s.ownerOf(object)
		if set != nil && s.ownerOf(set) == deployment {
			names = append(names, object.GetName())
		}
	}
	slices.Sort(names)
	return names
}

func (s *observedState) ownerOf(object *unstructured.Unstructured) *unstructured.Unstructured {
	if owner := metav1.GetControllerOf(object); owner != nil {
		return s.byUID[owner.UID]
	}
	return nil
}

// leftovers returns an error if there is an unexpected object. ReplicaSets and Pods are expected if their owner exists.
func (s *observedState) leftovers(expected map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		object := s.byName[name]
		derived := object.GetKind() == "ReplicaSet" || object.GetKind() == "Pod"
		if !expected[name] && (!derived || s.ownerOf(object) == nil) {
			return fmt.Errorf("unexpected object %s", name)
		}
	}
	return nil
}

// lostEdits returns an error if an edit that the operator must keep was lost even though its object still exists.
func (w *walk) lostEdits(s *observedState) error {
	for _, e := range w.edited {
		if child := s.byUID[e.uid]; child != nil && e.mustPersist && !e.isVisible(child) {
			return fmt.Errorf("%s %s has lost the edit %q", child.GetKind(), child.GetName(), e.description)
		}
	}
	return nil
}

func (w *walk) checkInvariants() error {
	if err := w.waitObserved(w.ctx); err != nil {
		return err
	}
	history := w.history.Versions(w.namespace)
	errs := []error{scenarios.ChildrenAreSingle(history)}
	for _, version := range history {
		owner := metav1.GetControllerOf(version)
		_, isChild := childKinds[version.GetKind()]
		if isChild && version.Deleted && !w.deleted[version.GetUID()] && (owner == nil || !w.deleted[owner.UID]) {
			errs = append(errs, fmt.Errorf("%s %s was deleted, but not by the walk", version.GetKind(), version.GetName()))
		}
	}
	status := scenarios.StatusIsAccurate
	if w.staleWatch {
		status = scenarios.StatusIsConsistent
	}
	for _, r := range initialResources() {
		about := slices.DeleteFunc(slices.Clone(history), func(version record.ObjectVersion) bool { return !r.concerns(version) })
		if err := status(about); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", r.name, err))
		}
	}
	return errors.Join(errs...)
}

func (r *desiredResource) concerns(version record.ObjectVersion) bool {
	switch version.GetKind() {
	case r.Kind, "Deployment":
		return version.GetName() == r.name
	case "ReplicaSet", "Pod":
		return version.GetLabels()["app.kubernetes.io/instance"] == r.name
	}
	return false
}
