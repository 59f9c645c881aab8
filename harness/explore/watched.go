package explore

import (
	"github.com/operator-assay/assay/harness/record"
)

// watchedResource is a resource that the operator watches. actions contains the actions, counted from 1, after which
// an object of the resource changed before the next action. deletions contains those after which an object was being
// deleted.
type watchedResource struct {
	target    string
	actions   []int
	deletions []int
}

func isAny(record.ObjectVersion) bool { return true }

// isBeingDeleted reports whether the object has a deletion timestamp but still exists.
func isBeingDeleted(version record.ObjectVersion) bool {
	return !version.Deleted && version.GetDeletionTimestamp() != nil
}
