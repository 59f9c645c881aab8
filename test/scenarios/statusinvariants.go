package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/api/workload"
)

// StatusIsAccurate checks every observed version of a resource's status. The history contains all versions of that
// resource and of the Pods in its namespace. A status may be outdated, but its fields must be consistent. The reported
// Pods and the number of ready Pods must match some earlier moment. If a status reports no Pods, there must have been a
// moment without Pods after the moment that the previous status reported.
func StatusIsAccurate(history []record.ObjectVersion) error {
	return judgeStatus(history, (*podHistory).observed)
}

// StatusIsConsistent is like StatusIsAccurate, but it does not check the reported Pods. Use it if one of the operator's
// watches lags behind, because the status may then name Pods that never existed at the same time.
func StatusIsConsistent(history []record.ObjectVersion) error {
	return judgeStatus(history, func(*podHistory, Observed) error { return nil })
}

func judgeStatus(history []record.ObjectVersion, podsOf func(*podHistory, Observed) error) error {
	var errs []error
	var last Observed
	pods := newPodHistory()
	for _, version := range history {
		if !isOurs(version.GetKind()) {
			errs = append(errs, pods.add(version))
			continue
		}
		if version.Deleted {
			last = Observed{}
			pods.reset()
			continue
		}
		s, err := Observe(version.Unstructured)
		if err != nil {
			return err
		}
		pods.owner = s.GetUID()
		if s.ObservedGeneration == 0 {
			continue // the operator has not written a status yet
		}
		err, last = errors.Join(s.selfConsistent(), podsOf(pods, s), s.follows(last)), s
		if err != nil {
			errs = append(errs, fmt.Errorf("%s at resourceVersion %s: %w", s.GetKind(), s.GetResourceVersion(), err))
		}
	}
	return errors.Join(errs...)
}

func (s Observed) selfConsistent() error {
	var errs []error
	check := func(holds bool, message string, args ...any) {
		if !holds {
			errs = append(errs, fmt.Errorf(message, args...))
		}
	}
	check(s.ObservedGeneration <= s.GetGeneration(), "observedGeneration %d exceeds generation %d", s.ObservedGeneration, s.GetGeneration())
	check(slices.IsSorted(s.Nodes), "nodes are not sorted: %v", s.Nodes)
	check(len(slices.Compact(slices.Clone(s.Nodes))) == len(s.Nodes), "nodes contain duplicates: %v", s.Nodes)
	check(int(s.Replicas) == len(s.Nodes), "replicas is %d, but nodes are %v", s.Replicas, s.Nodes)
	check(s.ReadyReplicas <= s.Replicas, "%d Pods of %d are ready", s.ReadyReplicas, s.Replicas)
	check(s.Selector != "", "there is no selector")
	check(len(s.Conditions) == 3, "got %d conditions, want 3", len(s.Conditions))
	for _, c := range s.Conditions {
		// While the operator applies a new spec, Degraded still describes the previous one.
		check(c.ObservedGeneration == s.ObservedGeneration || c.Type == workload.Degraded && c.ObservedGeneration < s.ObservedGeneration &&
			!meta.IsStatusConditionFalse(s.Conditions, workload.Progressing), "condition %s has observedGeneration %d, the status has %d", c.Type, c.ObservedGeneration, s.ObservedGeneration)
		check(c.Message != "", "condition %s has no message", c.Type)
	}
	available := meta.IsStatusConditionTrue(s.Conditions, workload.Available)
	check(available == (s.ReadyReplicas > 0), "Available is %t with %d ready Pods", available, s.ReadyReplicas)
	if s.ObservedGeneration == s.GetGeneration() && meta.IsStatusConditionPresentAndEqual(s.Conditions, workload.Progressing, metav1.ConditionFalse) &&
		!meta.IsStatusConditionTrue(s.Conditions, workload.Degraded) {
		desired := s.Desired()
		check(s.GetKind() != webServer.Kind || s.NodePort != 0, "neither Progressing nor Degraded without a node port")
		check(s.Replicas == desired && s.ReadyReplicas == desired, "neither Progressing nor Degraded with %d of %d Pods, %d ready", s.Replicas, desired, s.ReadyReplicas)
	}
	return errors.Join(errs...)
}

// Desired returns the number of Pods that the spec requests.
func (s Observed) Desired() int32 {
	for _, k := range kinds {
		if s.GetKind() == k.Kind {
			desired, _, _ := unstructured.NestedInt64(s.Object, "spec", k.Replicas)
			return int32(desired)
		}
	}
	return -1
}

func (s Observed) follows(last Observed) error {
	if s.ObservedGeneration < last.ObservedGeneration {
		return fmt.Errorf("observedGeneration decreased from %d to %d", last.ObservedGeneration, s.ObservedGeneration)
	}
	return nil
}

// podHistory records the active Pods of the resource's Deployments over time. The remaining Pods of a deleted
// Deployment are recorded as a separate set, because the operator may not have received the Deployment's deletion yet.
type podHistory struct {
	owner      types.UID               // the UID of the resource
	owners     map[types.UID]types.UID // the owner of each Deployment, ReplicaSet and Pod
	living     map[types.UID]pod       // the Pods that are neither terminating nor finished
	exists     map[types.UID]bool      // the existing Deployments
	moments    []string                // a description of the Pods at each moment, in order
	lastMoment int                     // the index of the moment that the last status reported
}

type pod struct {
	name  string
	ready bool
}

func newPodHistory() *podHistory {
	return &podHistory{owners: map[types.UID]types.UID{}, living: map[types.UID]pod{}, exists: map[types.UID]bool{},
		moments: []string{noPods}}
}

var noPods = describePods(nil, 0)

// reset starts the history of a new resource that has the same name and no Pods yet.
func (h *podHistory) reset() {
	h.moments = append(h.moments, noPods)
	h.lastMoment = len(h.moments) - 1
	h.owner = "nobody"
}

func (h *podHistory) add(version record.ObjectVersion) error {
	h.owners[version.GetUID()] = ""
	if owner := metav1.GetControllerOf(version); owner != nil {
		h.owners[version.GetUID()] = owner.UID
	}
	switch version.GetKind() {
	case "Deployment":
		h.exists[version.GetUID()] = !version.Deleted
	case "Pod":
		p := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(version.Object, p); err != nil {
			return err
		}
		delete(h.living, p.UID)
		if !version.Deleted && p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			h.living[p.UID] = pod{p.Name, slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
			})}
		}
	}
	for deployment, exists := range h.exists {
		if !exists && h.owners[deployment] == h.owner {
			if late := h.podsOf(func(of types.UID) bool { return of == deployment }); late != noPods {
				h.moments = append(h.moments, late)
			}
		}
	}
	h.moments = append(h.moments, h.podsOf(func(of types.UID) bool { return h.exists[of] && h.owners[of] == h.owner }))
	return nil
}

func (h *podHistory) podsOf(deployments func(types.UID) bool) string {
	var names []string
	var ready int32
	for uid, p := range h.living {
		if !deployments(h.owners[h.owners[uid]]) {
			continue
		}
		names = append(names, p.name)
		if p.ready {
			ready++
		}
	}
	slices.Sort(names)
	return describePods(names, ready)
}

// observed returns an error if the resource never had the reported Pods and number of ready Pods at the same time. A
// status may describe an older state than the previous status, because a live read of a Deployment may return a newer
// version than the watch. However, a status without Pods must not describe an older state.
func (h *podHistory) observed(s Observed) error {
	reported := describePods(s.Nodes, s.ReadyReplicas)
	since, ever := slices.Index(h.moments[h.lastMoment:], reported), slices.Index(h.moments, reported)
	switch {
	case since >= 0:
		h.lastMoment += since
	case reported == noPods:
		return fmt.Errorf("got no Pods, although the reported Pods still exist: %s", h.moments[h.lastMoment])
	case ever >= 0:
		h.lastMoment = ever
	default:
		return fmt.Errorf("got Pods that never existed at the same time: %s", reported)
	}
	return nil
}

func describePods(names []string, ready int32) string {
	return fmt.Sprintf("[%s], %d ready", strings.Join(names, " "), ready)
}
