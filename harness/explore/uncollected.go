package explore

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

// collectBound is how long an object whose owners have all gone is expected to be deleted: the garbage collector looks
// again after a second or so. What it cannot delete, such as for an owner of a kind that does not exist, stays.
const collectBound = 5 * time.Second

// isBeingCollected tells whether the garbage collector is about to delete an object: each of its owners has gone. The
// state is not final until then, though it may equal the reference's.
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
