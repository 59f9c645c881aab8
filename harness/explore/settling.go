package explore

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

// isUnderway reports whether a Kubernetes controller has not observed the latest spec of an object in the apps group
// yet. Until then, the controller may change other objects. For example, it may still create the ReplicaSet of a
// Deployment. A ControllerRevision has no generation, so it counts as observed.
func isUnderway(objects []unstructured.Unstructured) bool {
	return slices.ContainsFunc(objects, func(object unstructured.Unstructured) bool {
		if object.GroupVersionKind().Group != appsv1.GroupName || object.GetDeletionTimestamp() != nil {
			return false
		}
		observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
		return observed < object.GetGeneration()
	})
}

// isBeingCollected reports whether all owners of an object are gone, so that the garbage collector will delete it.
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
