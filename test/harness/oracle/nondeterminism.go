package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operator-assay/assay/test/harness/diff"
)

// Nondeterminism is what differs between two runs of the same story, so that a third is not blamed for it.
// That running the reference twice finds what is random is an idea of Sieve (OSDI'22).
type Nondeterminism struct {
	// Renamed says which object of the first run has another name in the second; empty if none has. Then a third
	// run cannot be compared with them.
	Renamed string

	objects map[string]bool            // those that only one run had
	fields  map[string]map[string]bool // by object, the paths of fields
}

// FindNondeterminism finds the variation of two snapshots.
func FindNondeterminism(one, two Snapshot) Nondeterminism {
	v := Nondeterminism{objects: map[string]bool{}, fields: map[string]map[string]bool{}}
	v.Renamed = renamed(one, two)
	all := maps.Clone(one)
	maps.Copy(all, two)
	for key := range all {
		first, inOne := one[key]
		second, inTwo := two[key]
		switch {
		case !inOne || !inTwo:
			v.objects[key] = true
		case first != second:
			v.fields[key] = map[string]bool{}
			for _, field := range (diff.Comparison{}).Fields("", parsed(first), parsed(second)) {
				v.fields[key][field.Path] = true
			}
		}
	}
	return v
}

// renamed finds two objects of a kind of which each snapshot has but one.
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

// Normalize gives a snapshot without what varies.
func (v Nondeterminism) Normalize(snapshot Snapshot) Snapshot {
	masked := Snapshot{}
	for key, state := range snapshot {
		if v.objects[key] {
			continue
		}
		if fields := v.fields[key]; fields != nil {
			if text, err := json.Marshal(withoutPaths("", parsed(state), fields)); err == nil {
				state = string(text)
			}
		}
		masked[key] = state
	}
	return masked
}

// withoutPaths drops the fields of these paths, and replaces elements of lists, which have a place to keep.
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
		return state // a snapshot is JSON; anything else is compared as it is
	}
	return value
}
