package diff

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Absent is the value of a field that is not there.
var Absent any = absent{}

type absent struct{}

// Field is one in which two values differ.
type Field struct {
	// Path is the field's name as API servers write it: spec.ports[0].name.
	Path string
	// From and To are JSON values, or Absent.
	From, To any
}

// Comparison says how Fields compares. The zero value reports every field of either value.
type Comparison struct {
	// Subset reports the fields of from alone: maps of to may hold more, lists may not, and null in from
	// stands for a field that to does not have.
	Subset bool
	// WholeLists reports a list that differs as one field, instead of its elements.
	WholeLists bool
}

// Fields returns the fields in which two JSON values differ, sorted by path. path is the path of the values
// themselves, often empty. A list whose length differs is one field.
func (c Comparison) Fields(path string, from, to any) []Field {
	if reflect.DeepEqual(from, to) || c.Subset && from == nil && to == Absent {
		return nil
	}
	switch from := from.(type) {
	case map[string]any:
		other, isMap := to.(map[string]any)
		if isMap || c.Subset && len(from) > 0 && (to == Absent || to == nil) {
			return c.fieldsOfMaps(path, from, other)
		}
	case []any:
		other, isList := to.([]any)
		if isList && len(from) == len(other) && !c.WholeLists {
			var found []Field
			for i := range from {
				found = append(found, c.Fields(fmt.Sprintf("%s[%d]", path, i), from[i], other[i])...)
			}
			return found
		}
	}
	return []Field{{path, from, to}}
}

func (c Comparison) fieldsOfMaps(path string, from, to map[string]any) []Field {
	keys := maps.Clone(from)
	if !c.Subset {
		maps.Copy(keys, to)
	}
	var found []Field
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		found = append(found, c.Fields(Join(path, key), valueOf(from, key), valueOf(to, key))...)
	}
	return found
}

// Keys are those that one of two maps has, sorted.
func Keys[M ~map[K]V, K cmp.Ordered, V any](one, two M) []K {
	keys := M{}
	maps.Copy(keys, one)
	maps.Copy(keys, two)
	return slices.Sorted(maps.Keys(keys))
}

// Join is the path of a field of the map that a path leads to.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func valueOf(object map[string]any, key string) any {
	if value, found := object[key]; found {
		return value
	}
	return Absent
}
