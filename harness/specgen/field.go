package specgen

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operator-assay/assay/harness/diff"
)

// absent is the value of a field that does not exist.
var absent = diff.Absent

// elements is the name of what a list or a map holds.
const elements = "[]"

// field is a field of the schema.
type field struct {
	parent   *field // nil for the spec itself
	name     string
	schema   *apiextensionsv1.JSONSchemaProps
	children []*field // an object's properties by name, or what a list or a map holds

	// values are those that are valid by themselves; the first is the most usual.
	values []any
	// context is a spec in which the field can have each of the choices, which are values or absent.
	context any
	choices []any
}

// path is the field's name as API servers write it: spec.ports[].name.
func (f *field) path() string {
	switch {
	case f.parent == nil:
		return f.name
	case f.name == elements:
		return f.parent.path() + elements
	default:
		return f.parent.path() + "." + f.name
	}
}

// with returns a copy of the spec in which the field has the value. The containers that it needs are created.
func (f *field) with(spec, value any) any {
	if f.parent == nil {
		return value
	}
	container := f.parent.in(spec)
	if container == absent || container == nil {
		container = f.parent.values[0]
	}
	return f.parent.with(spec, f.into(container, value))
}

// in returns the field's value in a spec; of several elements, that of the first.
func (f *field) in(spec any) any {
	if f.parent == nil {
		return spec
	}
	switch container := f.parent.in(spec).(type) {
	case []any:
		if len(container) > 0 {
			return container[0]
		}
	case map[string]any:
		if value, there := container[f.key(container)]; there {
			return value
		}
	}
	return absent
}

// into returns a copy of the field's container in which it has the value.
func (f *field) into(container, value any) any {
	switch container := runtime.DeepCopyJSONValue(container).(type) {
	case []any:
		if len(container) == 0 {
			return []any{value}
		}
		container[0] = value
		return container
	case map[string]any:
		if key := f.key(container); value == absent {
			delete(container, key)
		} else {
			container[key] = value
		}
		return container
	default:
		return container // an example of the caller's that cannot hold the field
	}
}

// key is where the field is in an object or, as the value of a map, under its first key.
func (f *field) key(container map[string]any) string {
	if f.name != elements {
		return f.name
	}
	if len(container) == 0 {
		return mapKeys[0]
	}
	return slices.Min(slices.Collect(maps.Keys(container)))
}

// mapKeys are the keys of maps, which schemas do not describe.
var mapKeys = []string{"example", "other"}

// siblings lists the fields beside one of the given path.
func siblings(fields []*field, path string) string {
	parent := path[:max(0, strings.LastIndexAny(path, ".["))]
	var found []string
	for _, f := range fields {
		if f.parent != nil && f.parent.path() == parent {
			found = append(found, f.path())
		}
	}
	if len(found) == 0 {
		return fields[0].path()
	}
	return strings.Join(found, ", ")
}
