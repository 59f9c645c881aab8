package explore

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

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

// actionsWith returns the actions, counted from 1, that are followed by a matching version of the resource. starts
// contains the length of the history before each action.
func (e *Explorer) actionsWith(such func(record.ObjectVersion) bool, target string, starts []int, history []record.ObjectVersion) []int {
	var actions []int
	for i, begin := range starts {
		end := len(history)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		if e.has(such, target, history[begin:end]) {
			actions = append(actions, i+1)
		}
	}
	return actions
}

// has reports whether the history contains a matching version of a resource such as "deployments.apps".
func (e *Explorer) has(such func(record.ObjectVersion) bool, target string, history []record.ObjectVersion) bool {
	kind, known := e.kinds[schema.ParseGroupResource(target)]
	return known && slices.ContainsFunc(history, func(version record.ObjectVersion) bool {
		return version.GroupVersionKind().GroupKind() == kind && such(version)
	})
}
