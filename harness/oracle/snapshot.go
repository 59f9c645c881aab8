package oracle

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Snapshot is the normalized state of a namespace. It maps the kind and name of each object to the JSON of the object.
// Values that differ between runs of the same scenario are removed or replaced:
//
//   - The namespace, and names that the API server and the Deployment controller generate. For example, web-<hash>-*
//     replaces web-7d4b9-x2x8k, including in the operator's status.
//   - UIDs. The UID of an object in the snapshot is replaced by the name of the object, so that references to deleted
//     owners show up as differences.
//   - IPs of Pods and Services, node ports, and the Node of a Pod with its IP, zone and region.
//   - Timestamps, and durations in a status.
//   - resourceVersion, generation and managedFields. A placeholder shows whether observedGeneration is current.
//   - The order of conditions, finalizers and owner references.
//   - EndpointSlices and Endpoints that Kubernetes controllers manage. They are updated up to a second later than the
//     Pods, and a run does not wait that long.
//   - The history of workloads: ReplicaSets without replicas, ControllerRevisions and revision numbers.
//
// The names of the compared namespaces must not occur anywhere else, such as those from controlplane.CreateNamespace.
type Snapshot map[string]string

// NewSnapshot returns a snapshot of the given objects, for example from record.ResourceLister.Objects. The objects must
// have stopped changing, and callers must exclude objects that should not be compared. For objects in other namespaces,
// the key also contains the namespace.
func NewSnapshot(namespace string, objects []unstructured.Unstructured) Snapshot {
	mask := newNormalizer(namespace, objects)
	alike := map[string][]string{} // objects with the same key, for example all Pods of a ReplicaSet
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

// derived reports whether a Snapshot omits the object because a Kubernetes controller derived it from other objects. It
// returns false for objects that the operator manages itself, such as a ReplicaSet without a Deployment.
func derived(object unstructured.Unstructured) bool {
	switch object.GroupVersionKind().GroupKind().String() {
	case "ReplicaSet.apps":
		replicas, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
		return replicas == 0 && isOfWorkload(object)
	case "ControllerRevision.apps":
		return isOfWorkload(object)
	case "EndpointSlice.discovery.k8s.io":
		return object.GetLabels()["endpointslice.kubernetes.io/managed-by"] == "endpointslice-controller.k8s.io"
	case "Endpoints":
		return object.GetLabels()["endpoints.kubernetes.io/managed-by"] == "endpoint-controller"
	}
	return false
}

func isOfWorkload(object unstructured.Unstructured) bool {
	versions := map[string]string{"Deployment": "ReplicaSet", "StatefulSet": "ControllerRevision", "DaemonSet": "ControllerRevision"}
	controller := metav1.GetControllerOf(&object)
	return controller != nil && versions[controller.Kind] == object.GetKind()
}
