package explore

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
)

type kinds struct {
	of            map[schema.GroupResource]schema.GroupKind
	clusterScoped sets.Set[schema.GroupResource]
}

func newKinds(resources *record.ResourceLister) (kinds, error) {
	k := kinds{map[schema.GroupResource]schema.GroupKind{}, sets.Set[schema.GroupResource]{}}
	namespaced, others, err := resources.Kinds()
	if err != nil {
		return k, err
	}
	for resource, kind := range namespaced {
		k.of[resource.GroupResource()] = kind.GroupKind()
	}
	for resource, kind := range others {
		k.of[resource.GroupResource()] = kind.GroupKind()
		k.clusterScoped.Insert(resource.GroupResource())
	}
	return k, nil
}

// lookUp returns the kind of a resource such as "deployments.apps".
func (k kinds) lookUp(target string) (kind schema.GroupKind, known bool) {
	kind, known = k.of[schema.ParseGroupResource(target)]
	return kind, known
}

func (k kinds) isNamespaced(resource schema.GroupResource) bool {
	_, known := k.of[resource]
	return known && !k.clusterScoped.Has(resource) || resource.Resource == "events" || resource.Resource == "leases"
}

func (k kinds) firstClusterScoped(all []schema.GroupVersionKind) string {
	for _, kind := range all {
		for resource := range k.clusterScoped {
			if k.of[resource] == kind.GroupKind() {
				return kind.Kind
			}
		}
	}
	return ""
}

func (k kinds) writtenClusterWide(writes []fault.Write) string {
	for _, write := range writes {
		if fault.IsShared(write.Target) && !write.Created {
			continue // fault.Serve does not store such a write
		}
		if k.clusterScoped.Has(schema.ParseGroupResource(write.Target)) {
			return write.Target
		}
	}
	return ""
}

// actionsWith returns the numbers of the actions that were followed by a matching version of the resource before the
// next action. The first action has number 1. starts contains the length of the history before each action.
func (k kinds) actionsWith(target string, starts []int, history []record.ObjectVersion, matches func(record.ObjectVersion) bool) []int {
	kind, known := k.lookUp(target)
	if !known {
		return nil
	}
	isMatch := func(version record.ObjectVersion) bool {
		return version.GroupVersionKind().GroupKind() == kind && matches(version)
	}
	var actions []int
	for i, begin := range starts {
		end := len(history)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		if slices.ContainsFunc(history[begin:end], isMatch) {
			actions = append(actions, i+1)
		}
	}
	return actions
}
