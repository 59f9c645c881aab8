package diff

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Absent is the value of a missing field.
var Absent any = absent{}

type absent struct{}

// Field describes a field that has different values in two objects.
type Field struct {
	// Path has the form that API servers use in errors, for example spec.ports[0].name.
	Path string
	// From and To are JSON values, or Absent.
	From, To any
}

// Comparison configures how Fields compares two values. By default, Fields returns every difference.
type Comparison struct {
	// Subset ignores map entries that exist only in the second value. A null in the first value matches a missing
	// field. Lists must still have the same length.
	Subset bool
	// Equal reports whether two values, which can be objects or lists, are equal. Defaults to reflect.DeepEqual.
	Equal func(from, to any) bool
}

// Fields returns the fields that differ between two JSON values, sorted by path. The path of each field starts with the
// given path, which may be empty. A list whose length differs is reported as a single field.
func (c Comparison) Fields(path string, from, to any) []Field {
	if c.Equal == nil {
		c.Equal = reflect.DeepEqual
	}
	if c.Equal(from, to) || c.Subset && from == nil && to == Absent {
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
		if isList && len(from) == len(other) {
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

// Keys returns the sorted union of the keys of two maps.
func Keys[M ~map[K]V, K cmp.Ordered, V any](one, two M) []K {
	keys := M{}
	maps.Copy(keys, one)
	maps.Copy(keys, two)
	return slices.Sorted(maps.Keys(keys))
}

// Join appends a key to a path.
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
