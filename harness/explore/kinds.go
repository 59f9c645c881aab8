package explore

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
)

// kinds maps resources such as deployments.apps to their kinds.
type kinds map[schema.GroupResource]kind

type kind struct {
	schema.GroupVersionKind
	clusterScoped bool
}

func newKinds(resources *record.ResourceLister) (kinds, error) {
	namespaced, clusterScoped, err := resources.Kinds()
	k := kinds{}
	for resource, of := range namespaced {
		k[resource.GroupResource()] = kind{of, false}
	}
	for resource, of := range clusterScoped {
		k[resource.GroupResource()] = kind{of, true}
	}
	return k, err
}

// kindOf returns the kind of a target, or the zero value if the target is unknown.
func (k kinds) kindOf(target string) kind { return k[schema.ParseGroupResource(target)] }

func (k kinds) isNamespaced(resource schema.GroupResource) bool {
	of, known := k[resource]
	return known && !of.clusterScoped || resource.Resource == "events" || resource.Resource == "leases"
}

func (k kinds) writtenClusterWide(writes []fault.Write) string {
	for _, write := range writes {
		isStored := write.Created || !fault.IsShared(write.Target) // see fault.Serve
		if k.kindOf(write.Target).clusterScoped && isStored {
			return write.Target
		}
	}
	return ""
}

// actionsWith returns the numbers of the actions, starting from 1, that were followed by a matching object version
// before the next action. Only objects of the target's kind are considered. starts contains the length of the history
// before each action.
func (k kinds) actionsWith(target string, starts []int, history []record.ObjectVersion, matches func(record.ObjectVersion) bool) []int {
	of, ends := k.kindOf(target), append(slices.Clone(starts), len(history))
	isMatch := func(version record.ObjectVersion) bool {
		return version.GroupVersionKind().GroupKind() == of.GroupKind() && matches(version)
	}
	var actions []int
	for i, begin := range starts {
		if slices.ContainsFunc(history[begin:ends[i+1]], isMatch) {
			actions = append(actions, i+1)
		}
	}
	return actions
}
