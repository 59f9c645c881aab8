package explore

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

// isBeingCollected reports whether the garbage collector is about to delete an object because all of its owners are
// gone. Until then, the state is not final even if it equals the reference.
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
