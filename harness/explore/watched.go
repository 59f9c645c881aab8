package explore

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/record"
)

// watchedResource is a resource that the operator watches, with the actions of the scenario, counted from 1, after
// which one of its objects changed before the next action, and those of them after which one was being deleted.
type watchedResource struct {
	target    string
	actions   []int
	deletions []int
}

func isAny(record.ObjectVersion) bool { return true }

// isBeingDeleted tells whether an object waits for the end of its deletion.
func isBeingDeleted(version record.ObjectVersion) bool {
	return !version.Deleted && version.GetDeletionTimestamp() != nil
}

// actionsWith returns the actions of a run, counted from 1, after which there were such versions of a resource's objects.
// starts are the lengths of the history before each action.
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

// has tells whether a history contains such versions of a resource's objects, such as "deployments.apps".
func (e *Explorer) has(such func(record.ObjectVersion) bool, target string, history []record.ObjectVersion) bool {
	kind, known := e.kinds[schema.ParseGroupResource(target)]
	return known && slices.ContainsFunc(history, func(version record.ObjectVersion) bool {
		return version.GroupVersionKind().GroupKind() == kind && such(version)
	})
}
