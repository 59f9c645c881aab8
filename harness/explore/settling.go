package explore

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/record"
)

// observing maps the kinds in the apps group that have status.observedGeneration to the names of their controllers.
var observing = map[schema.GroupKind]string{
	{Group: "apps", Kind: "Deployment"}:  "deployment-controller",
	{Group: "apps", Kind: "ReplicaSet"}:  "replicaset-controller",
	{Group: "apps", Kind: "StatefulSet"}: "statefulset-controller",
	{Group: "apps", Kind: "DaemonSet"}:   "daemonset-controller",
}

// isUnderway reports whether a Kubernetes controller has not observed the latest spec of an object yet. Until then, the
// controller may change other objects. For example, it may still create the ReplicaSet of a Deployment.
func isUnderway(objects []unstructured.Unstructured) bool {
	return slices.ContainsFunc(objects, func(object unstructured.Unstructured) bool {
		controller, known := observing[object.GroupVersionKind().GroupKind()]
		if !known || !controlplane.Runs(controller) || object.GetDeletionTimestamp() != nil {
			return false
		}
		observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
		return observed < object.GetGeneration()
	})
}

// isBeingCollected reports whether the garbage collector will delete an object, because all of its owners are gone.
func isBeingCollected(history []record.ObjectVersion) bool {
	gone := sets.New[types.UID]()
	last := map[types.UID]record.ObjectVersion{}
	for _, version := range history {
		last[version.GetUID()] = version
		if version.Deleted {
			gone.Insert(version.GetUID())
		}
	}
	for _, version := range last {
		owners := version.GetOwnerReferences()
		if !version.Deleted && version.GetDeletionTimestamp() == nil && len(owners) > 0 &&
			!slices.ContainsFunc(owners, func(owner metav1.OwnerReference) bool { return !gone.Has(owner.UID) }) {
			return true
		}
	}
	return false
}
