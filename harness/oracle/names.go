package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

// learnNames finds the kinds whose object names vary between runs, for example because the names end with a random
// hash. Objects of these kinds are compared by content instead of name.
func (n *Nondeterminism) learnNames(one, two Snapshot) []string {
	var found []string
	inBoth := sets.KeySet(one).Intersection(sets.KeySet(two))
	for kind, stay := range n.names {
		n.names[kind] = stay.Intersection(inBoth)
	}
	for _, was := range slices.Sorted(maps.Keys(one)) {
		kind, name, _ := strings.Cut(was, "/")
		if inBoth.Has(was) || n.names[kind] != nil || isGenerated(name) {
			continue
		}
		for _, is := range slices.Sorted(maps.Keys(two)) {
			if other, found := strings.CutPrefix(is, kind+"/"); !found || inBoth.Has(is) || isGenerated(other) {
				continue
			}
			if n.names == nil {
				n.names = map[string]sets.Set[string]{}
			}
			n.names[kind] = inBoth
			found = append(found, fmt.Sprintf("the name of %s, which was %s", is, was))
			break
		}
	}
	return found
}

// isGenerated reports whether the API server generated the name. In a Snapshot, such a name contains a *.
func isGenerated(name string) bool { return strings.Contains(name, "*") }

// withoutNames replaces every varying name with a placeholder. For each kind, it numbers these objects by content.
func (n *Nondeterminism) withoutNames(snapshot Snapshot) Snapshot {
	names := map[string]string{}
	for key := range snapshot {
		if _, name, _ := strings.Cut(key, "/"); n.nameVaries(key) {
			names[name] = varies
		}
	}
	replacer := longestFirst(names)
	renamed, states := Snapshot{}, map[string][]string{}
	for key, state := range snapshot {
		if kind, _, _ := strings.Cut(key, "/"); n.nameVaries(key) {
			states[kind] = append(states[kind], replacer.Replace(state))
		} else {
			renamed[key] = replacer.Replace(state)
		}
	}
	for kind, all := range states {
		for i, state := range slices.Sorted(slices.Values(all)) {
			renamed[fmt.Sprintf("%s/%s #%d", kind, varies, i+1)] = state
		}
	}
	return renamed
}

// Name returns the name of an object. If the name varies between runs, it returns the placeholder that Normalize uses.
func (n *Nondeterminism) Name(kind schema.GroupKind, name string) string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if n.nameVaries(kind.String() + "/" + name) {
		return varies
	}
	return name
}

// nameVaries reports whether the object's name varies between runs. It ignores generated names, because a Snapshot
// already contains a placeholder for them.
func (n *Nondeterminism) nameVaries(key string) bool {
	kind, name, _ := strings.Cut(key, "/")
	stay := n.names[kind]
	return stay != nil && !stay.Has(key) && !isGenerated(name)
}
