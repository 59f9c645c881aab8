package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operator-assay/assay/test/harness/diff"
)

// Nondeterminism is what differs between two runs of the same scenario, so that a third run is not judged by it. To
// find what is random by running the reference twice is an idea of Sieve (OSDI'22).
type Nondeterminism struct {
	// Renamed names an object of the first run that has another name in the second; empty if there is none. A third
	// run cannot be compared then.
	Renamed string

	objects map[string]bool            // those that only one run had
	fields  map[string]map[string]bool // paths of fields, by object
}

// FindNondeterminism returns what differs between two snapshots.
func FindNondeterminism(one, two Snapshot) Nondeterminism {
	n := Nondeterminism{objects: map[string]bool{}, fields: map[string]map[string]bool{}}
	n.Renamed = renamed(one, two)
	all := maps.Clone(one)
	maps.Copy(all, two)
	for key := range all {
		first, inOne := one[key]
		second, inTwo := two[key]
		switch {
		case !inOne || !inTwo:
			n.objects[key] = true
		case first != second:
			n.fields[key] = map[string]bool{}
			for _, field := range (diff.Comparison{}).Fields("", parsed(first), parsed(second)) {
				n.fields[key][field.Path] = true
			}
		}
	}
	return n
}

// renamed finds an object of either snapshot that the other does not have, both of the same kind.
func renamed(one, two Snapshot) string {
	for _, was := range slices.Sorted(maps.Keys(one)) {
		kind, _, _ := strings.Cut(was, "/")
		for _, is := range slices.Sorted(maps.Keys(two)) {
			_, stayed := two[was]
			_, existed := one[is]
			if strings.HasPrefix(is, kind+"/") && !stayed && !existed {
				return fmt.Sprintf("%s was %s before", is, was)
			}
		}
	}
	return ""
}

// Normalize returns a snapshot without what is nondeterministic.
func (n Nondeterminism) Normalize(snapshot Snapshot) Snapshot {
	masked := Snapshot{}
	for key, state := range snapshot {
		if n.objects[key] {
			continue
		}
		if fields := n.fields[key]; fields != nil {
			if text, err := json.Marshal(withoutPaths("", parsed(state), fields)); err == nil {
				state = string(text)
			}
		}
		masked[key] = state
	}
	return masked
}

// withoutPaths removes the fields of these paths. Elements of lists are replaced, to keep the others in place.
func withoutPaths(path string, value any, paths map[string]bool) any {
	if paths[path] {
		return "<varies>"
	}
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			if paths[diff.Join(path, key)] {
				delete(value, key)
				continue
			}
			value[key] = withoutPaths(diff.Join(path, key), value[key], paths)
		}
	case []any:
		for i := range value {
			value[i] = withoutPaths(fmt.Sprintf("%s[%d]", path, i), value[i], paths)
		}
	}
	return value
}

func parsed(state string) any {
	var value any
	if json.Unmarshal([]byte(state), &value) != nil {
		return state // a snapshot is JSON; anything else is compared as text
	}
	return value
}
