package oracle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/diff"
)

// Nondeterminism describes which parts of the state vary between runs of a scenario. They are found by comparing
// reference runs, as in Sieve (OSDI'22), and are ignored when other runs are compared. The zero value ignores nothing.
// A Nondeterminism is safe for concurrent use.
type Nondeterminism struct {
	mu      sync.RWMutex
	names   map[string]sets.Set[string] // for each kind whose names vary, the keys of objects with stable names
	objects sets.Set[string]            // keys of objects that exist only in some runs
	orders  map[string]sets.Set[string] // paths of lists whose order varies, by object
	fields  map[string]sets.Set[string] // paths of fields that vary, by object
}

// Learn adds the differences between two runs, and returns a description of each new difference.
func (n *Nondeterminism) Learn(one, two Snapshot) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := n.learnNames(one, two)
	one, two = n.normalize(one), n.normalize(two)
	for _, key := range diff.Keys(one, two) {
		first, inOne := one[key]
		second, inTwo := two[key]
		if inOne && inTwo {
			found = append(found, n.learnFields(key, parsed(withoutMessages(first)), parsed(withoutMessages(second)))...)
		} else {
			n.objects = sets.New(key).Union(n.objects)
			found = append(found, "whether "+key+" exists")
		}
	}
	return found
}

func (n *Nondeterminism) learnFields(key string, one, two any) []string {
	found := add(&n.orders, "the order of ", key, reordered("", one, two))
	var fields []string
	for _, field := range (diff.Comparison{}).Fields("", masked(one, n.orders[key], nil), masked(two, n.orders[key], nil)) {
		fields = append(fields, field.Path)
	}
	return append(found, add(&n.fields, "", key, fields)...)
}

// Adopt adds the list orders and desired-state fields that vary in the other Nondeterminism, and returns a description
// of each addition. It does not add names, status fields, or objects that exist only in some runs. These depend on the
// operator's progress, and might be the same in all runs that n describes.
func (n *Nondeterminism) Adopt(other *Nondeterminism) []string {
	other.mu.RLock()
	orders, fields := maps.Clone(other.orders), maps.Clone(other.fields)
	other.mu.RUnlock() // unlock first, because other may adopt from n concurrently
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []string
	for _, key := range slices.Sorted(maps.Keys(orders)) {
		news := sets.List(orders[key].Difference(n.orders[key]))
		found = append(found, add(&n.orders, "the order of ", key, news)...)
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		news := sets.List(fields[key].Difference(n.fields[key]))
		news = slices.DeleteFunc(news, func(path string) bool { return !isWritten(path) })
		found = append(found, add(&n.fields, "", key, news)...)
	}
	return found
}

// isWritten reports whether a field contains desired state, such as a spec, a label or an annotation.
func isWritten(path string) bool {
	top, rest, _ := strings.Cut(path, ".")
	return top != "" && top != "status" && (top != "metadata" || strings.HasPrefix(rest, "annotations.") || strings.HasPrefix(rest, "labels."))
}

// add adds the paths of an object to all[key]. It returns a description of each path, starting with what.
func add(all *map[string]sets.Set[string], what, key string, paths []string) (found []string) {
	if *all == nil {
		*all = map[string]sets.Set[string]{}
	}
	(*all)[key] = sets.New(paths...).Union((*all)[key])
	for _, path := range paths {
		found = append(found, what+key+" "+path)
	}
	return found
}

// Differences returns the differences between two snapshots that are not caused by known nondeterminism.
func (n *Nondeterminism) Differences(one, two Snapshot) []Difference {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return Differences(n.normalize(one), n.normalize(two))
}

// Normalize returns the snapshot without its nondeterministic parts.
func (n *Nondeterminism) Normalize(snapshot Snapshot) Snapshot {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.normalize(snapshot)
}

// The caller of normalize must hold the lock.
func (n *Nondeterminism) normalize(snapshot Snapshot) Snapshot {
	rest := Snapshot{}
	for key, state := range n.withoutNames(snapshot) {
		if n.objects.Has(key) {
			continue
		}
		if n.orders[key].Len()+n.fields[key].Len() > 0 { // avoid parsing the other objects
			value := masked(parsed(state), n.orders[key], n.fields[key])
			dropEmptyStatus(value)
			state = text(value)
		}
		rest[key] = state
	}
	return rest
}

// masked sorts the lists at the paths in orders, and removes the fields at the paths in fields. List elements are
// replaced with a placeholder rather than removed, so that the indices of the other elements do not change.
func masked(value any, orders, fields sets.Set[string]) any {
	return walk("", value, func(path string, value any) any {
		if fields.Has(path) {
			return varies
		}
		switch value := value.(type) {
		case map[string]any:
			maps.DeleteFunc(value, func(key string, _ any) bool { return fields.Has(diff.Join(path, key)) })
		case []any:
			if orders.Has(path) {
				slices.SortFunc(value, func(a, b any) int { return strings.Compare(text(a), text(b)) })
			}
		}
		return value
	})
}

// walk calls visit for a JSON value and all values in it, and replaces each value with the result.
func walk(path string, value any, visit func(path string, value any) any) any {
	value = visit(path, value)
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			value[key] = walk(diff.Join(path, key), field, visit)
		}
	case []any:
		for i, element := range value {
			value[i] = walk(fmt.Sprintf("%s[%d]", path, i), element, visit)
		}
	}
	return value
}

const varies = "<varies>"

// reordered returns the paths of lists that contain the same elements in a different order.
func reordered(path string, one, two any) []string {
	var found []string
	switch one := one.(type) {
	case map[string]any:
		other, _ := two.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(one)) {
			found = append(found, reordered(diff.Join(path, key), one[key], other[key])...)
		}
	case []any:
		other, _ := two.([]any)
		if len(one) != len(other) || slices.Equal(texts(one), texts(other)) {
			return nil
		}
		if slices.Equal(slices.Sorted(slices.Values(texts(one))), slices.Sorted(slices.Values(texts(other)))) {
			return []string{path}
		}
		for i := range one {
			found = append(found, reordered(fmt.Sprintf("%s[%d]", path, i), one[i], other[i])...)
		}
	}
	return found
}

func texts(list []any) []string {
	all := make([]string, len(list))
	for i, element := range list {
		all[i] = text(element)
	}
	return all
}

func text(value any) string {
	text, _ := json.Marshal(value) // cannot fail, because the value was decoded from JSON
	return string(text)
}

func parsed(state string) any {
	decoder := json.NewDecoder(strings.NewReader(state))
	decoder.UseNumber() // large integers would lose precision as float64
	var value any
	if decoder.Decode(&value) != nil {
		return state // compare the strings if they are not JSON
	}
	return value
}
