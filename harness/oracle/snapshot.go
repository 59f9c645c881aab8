package oracle

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Snapshot is the state of a namespace without what differs between two runs of the same scenario: JSON by kind and
// name. What is normalized, in every field of every object where it occurs:
//
//   - the namespace's name, and names that the API server and the Deployment controller generated: web-7d4b9-x2x8k,
//     a Pod's, is web-<hash>-* in the operator's status, too. The hash depends on the Pods' template, which is
//     compared, and on collisions with existing ReplicaSets
//   - UIDs; the UID of an object of the namespace becomes that object's name, so that a reference to a deleted
//     owner shows as a difference
//   - Pod and Service IPs and node ports
//   - the Node that a Pod was bound to, its IP, its zone and its region
//   - times, and in a status durations
//   - resourceVersion, generation and managedFields; observedGeneration only tells whether it is current
//   - the order of conditions
//
// Left out is what controllers derive from the compared objects:
//
//   - what the endpoints controllers derive from Services and Pods, up to a second later: longer than anything
//     else, and than a run may last
//   - a workload's history: ReplicaSets without replicas, ControllerRevisions, and the number of the revision
//
// Namespaces that are compared must have names that occur nowhere by chance, such as those of
// controlplane.CreateNamespace.
type Snapshot map[string]string

// NewSnapshot takes a snapshot of a namespace's objects, as record.ResourceLister.Objects returns them. There may be objects
// of other namespaces among them, whose names follow their namespace's. Take it when
// the namespace no longer changes. Objects that a comparison is to ignore are left out by the caller.
func NewSnapshot(namespace string, objects []unstructured.Unstructured) Snapshot {
	mask := newNormalizer(namespace, objects)
	alike := map[string][]string{} // the objects of a key; all Pods of a ReplicaSet share one
	for _, object := range objects {
		if derived(object) {
			continue
		}
		key := object.GroupVersionKind().GroupKind().String() + "/"
		if other := object.GetNamespace(); other != "" && other != namespace {
			key += mask.text(other) + "/"
		}
		key += mask.text(object.GetName())
		alike[key] = append(alike[key], text(mask.object(object)))
	}
	snapshot := Snapshot{}
	for key, states := range alike {
		slices.Sort(states)
		for index, state := range states {
			name := key
			if len(states) > 1 {
				name = fmt.Sprintf("%s #%d", key, index+1)
			}
			snapshot[name] = state
		}
	}
	return snapshot
}

// derived tells whether a controller of Kubernetes made an object from those that are compared. An object that the
// operator manages itself is not derived.
func derived(object unstructured.Unstructured) bool {
	switch object.GroupVersionKind().GroupKind().String() {
	case "ReplicaSet.apps":
		replicas, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
		controller := metav1.GetControllerOf(&object)
		return replicas == 0 && controller != nil && controller.Kind == "Deployment"
	case "ControllerRevision.apps":
		controller := metav1.GetControllerOf(&object)
		return controller != nil && (controller.Kind == "StatefulSet" || controller.Kind == "DaemonSet")
	case "EndpointSlice.discovery.k8s.io":
		return object.GetLabels()["endpointslice.kubernetes.io/managed-by"] == "endpointslice-controller.k8s.io"
	case "Endpoints":
		return object.GetLabels()["endpoints.kubernetes.io/managed-by"] == "endpoint-controller"
	}
	return false
}
