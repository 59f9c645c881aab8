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

// Nondeterminism is what differs between runs of the same scenario, so that another run is not judged by it. To find
// what is random by comparing reference runs is an idea of Sieve (OSDI'22). The zero value knows of nothing. More may be
// learnt while snapshots are compared by it.
type Nondeterminism struct {
	mu      sync.RWMutex
	names   map[string]sets.Set[string] // by kind with names that differ: the keys of objects whose names do not
	objects sets.Set[string]            // those that only some runs have
	orders  map[string]sets.Set[string] // paths of lists whose order differs, by object
	fields  map[string]sets.Set[string] // paths of fields that differ, by object
}

// Learn adds what differs between two runs. It returns what was not known, a phrase each.
func (n *Nondeterminism) Learn(one, two Snapshot) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	found := n.learnNames(one, two)
	one, two = n.normalize(one), n.normalize(two)
	for _, key := range diff.Keys(one, two) {
		first, inOne := one[key]
		second, inTwo := two[key]
		switch {
		case !inOne || !inTwo:
			n.objects = sets.New(key).Union(n.objects)
			found = append(found, "whether "+key+" exists")
		default:
			found = append(found, n.learnFields(key, parsed(withoutMessages(first)), parsed(withoutMessages(second)))...)
		}
	}
	return found
}

// learnFields learns in which fields two states of an object differ, and of which lists just the order.
func (n *Nondeterminism) learnFields(key string, one, two any) []string {
	var found []string
	orders := reordered("", one, two)
	for _, path := range orders {
		found = append(found, "the order of "+key+" "+path)
	}
	add(&n.orders, key, orders)
	var fields []string
	for _, field := range (diff.Comparison{}).Fields("", masked("", one, n.orders[key], nil), masked("", two, n.orders[key], nil)) {
		fields = append(fields, field.Path)
		found = append(found, key+" "+field.Path)
	}
	add(&n.fields, key, fields)
	return found
}

// Adopt adds what another one knows of the same objects in other states, and returns what was not known, a phrase each: the
// order of lists, and values that somebody has written. What differs in a status, or in whether something exists, tells
// how far things had come, and in another state that may not differ.
func (n *Nondeterminism) Adopt(other *Nondeterminism) []string {
	other.mu.RLock()
	orders, fields := maps.Clone(other.orders), maps.Clone(other.fields)
	other.mu.RUnlock() // before n is locked, because the other may adopt from it meanwhile
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []string
	for _, key := range slices.Sorted(maps.Keys(orders)) {
		news := orders[key].Difference(n.orders[key])
		for _, path := range sets.List(news) {
			found = append(found, "the order of "+key+" "+path)
		}
		add(&n.orders, key, news.UnsortedList())
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		var news []string
		for _, path := range sets.List(fields[key].Difference(n.fields[key])) {
			if isWritten(path) {
				news = append(news, path)
				found = append(found, key+" "+path)
			}
		}
		add(&n.fields, key, news)
	}
	return found
}

// isWritten tells whether a field holds what somebody has written, as opposed to what became of it.
func isWritten(path string) bool {
	top, rest, _ := strings.Cut(path, ".")
	return top != "" && top != "status" && (top != "metadata" || strings.HasPrefix(rest, "annotations.") || strings.HasPrefix(rest, "labels."))
}

func add(all *map[string]sets.Set[string], key string, paths []string) {
	if *all == nil {
		*all = map[string]sets.Set[string]{}
	}
	(*all)[key] = sets.New(paths...).Union((*all)[key])
}

// Differences returns how two snapshots differ in what is not random; none if they do not.
func (n *Nondeterminism) Differences(one, two Snapshot) []Difference {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return Differences(n.normalize(one), n.normalize(two))
}

// Normalize returns a snapshot without what is nondeterministic.
func (n *Nondeterminism) Normalize(snapshot Snapshot) Snapshot {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.normalize(snapshot)
}

// normalize is Normalize. The caller holds the lock.
func (n *Nondeterminism) normalize(snapshot Snapshot) Snapshot {
	rest := Snapshot{}
	for key, state := range n.withoutNames(snapshot) {
		if n.objects.Has(key) {
			continue
		}
		if n.orders[key].Len()+n.fields[key].Len() > 0 { // the others, which are most, are not parsed
			value := masked("", parsed(state), n.orders[key], n.fields[key])
			dropEmptyStatus(value)
			state = text(value)
		}
		rest[key] = state
	}
	return rest
}

// masked returns a value with the lists of some paths sorted, and without the fields of others. Elements of lists are replaced, to
// keep the others in place.
func masked(path string, value any, orders, fields sets.Set[string]) any {
	if fields.Has(path) {
		return varies
	}
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			if inner := diff.Join(path, key); fields.Has(inner) {
				delete(value, key)
			} else {
				value[key] = masked(inner, value[key], orders, fields)
			}
		}
	case []any:
		if orders.Has(path) {
			slices.SortFunc(value, func(a, b any) int { return strings.Compare(text(a), text(b)) })
		}
		for i := range value {
			value[i] = masked(fmt.Sprintf("%s[%d]", path, i), value[i], orders, fields)
		}
	}
	return value
}

// varies stands for what differs.
const varies = "<varies>"

// reordered returns the paths of lists that hold the same elements in another order.
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
	text, _ := json.Marshal(value) // what an API server has sent, or was parsed from JSON, is JSON again
	return string(text)
}

func parsed(state string) any {
	decoder := json.NewDecoder(strings.NewReader(state))
	decoder.UseNumber() // large integers that differ are the same float64
	var value any
	if decoder.Decode(&value) != nil {
		return state // a snapshot is JSON; anything else is compared as text
	}
	return value
}
