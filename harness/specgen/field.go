package specgen

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// absent is the value of a missing field.
var absent any = absence{}

type absence struct{}

// elements is the name of the field that represents the elements of a list or the values of a map.
const elements = "[]"

type field struct {
	parent   *field // nil for the spec itself
	name     string
	schema   *apiextensionsv1.JSONSchemaProps
	children []*field // the properties of an object by name, or the elements of a list or map

	// values are valid for the schema of the field. The first one is preferred.
	values []any
	// isKnown is true if the values come from a field of a Kubernetes type.
	isKnown bool
}

// path returns the path of the field, for example spec.ports[].name.
func (f *field) path() string {
	switch {
	case f.parent == nil:
		return f.name
	case f.name == elements:
		return f.parent.path() + elements
	}
	return f.parent.path() + "." + f.name
}

// with returns a copy of spec with the field set to the given value, creating any missing parents.
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

// in returns the field's value in a spec. If the field is inside a list, it returns the value from the first element.
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
		if value, found := container[f.key(container)]; found {
			return value
		}
	}
	return absent
}

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
		return container // null, or a value whose type differs from the schema
	}
}

// reachable reports whether the field can be set, which requires a valid value for each parent that the spec lacks.
func (f *field) reachable(spec any) bool {
	if f.parent == nil {
		return true
	}
	container := f.parent.in(spec)
	return container != absent && container != nil || len(f.parent.values) > 0 && f.parent.reachable(spec)
}

func (f *field) depth() int {
	if f.parent == nil {
		return 0
	}
	return f.parent.depth() + 1
}

// key returns the key of the field in container. If the field represents map values, it returns the first key of the
// map, or the key of a generated entry if the map is empty.
func (f *field) key(container map[string]any) string {
	if f.name != elements {
		return f.name
	}
	if len(container) == 0 {
		return keyIn(f.parent)
	}
	return slices.Min(slices.Collect(maps.Keys(container)))
}
