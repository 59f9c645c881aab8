package specgen

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// Transition is a change to one field of a spec.
type Transition struct {
	From, To map[string]any
	// Field is the path of the field. List elements and map values are written as [], as in spec.ports[].name.
	Field string
	// Retriable reports whether another value is worth trying if this one is rejected or has no effect, for example
	// because it is the operator's default. It is true for numbers, booleans, enums and fields of Kubernetes types.
	Retriable bool

	from, to any
}

// String returns a description such as "spec.replicas: absent → 3".
func (t Transition) String() string {
	return fmt.Sprintf("%s: %s → %s", t.Field, show(t.from), show(t.to))
}

// Transitions yields transitions from the given spec to different valid specs, at most perField for each field. Fields
// that the spec sets come first, then the least deeply nested fields. CEL rules that refer to the old spec are not
// evaluated. Validation is slow for large schemas, so take only as many transitions as needed.
func (s *Schema) Transitions(spec map[string]any, perField int) iter.Seq[Transition] {
	fields := slices.Clone(s.fields[1:])
	isUnset := func(f *field) int {
		if f.in(spec) == absent {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(fields, func(a, b *field) int {
		return cmp.Or(cmp.Compare(isUnset(a), isUnset(b)), cmp.Compare(a.depth(), b.depth()))
	})
	return func(yield func(Transition) bool) {
		seen := map[string]bool{keyOf(spec): true}
		for _, f := range fields {
			current, left := f.in(spec), perField
			if f.schema.Type == "object" && len(f.children) > 0 || !f.reachable(spec) {
				continue // the fields of an object are changed individually
			}
			for _, value := range f.otherValues(current) {
				changed := f.with(spec, value)
				if key := keyOf(changed); left > 0 && !seen[key] && s.rules.check(changed) == nil {
					seen[key], left = true, left-1
					if !yield(Transition{From: copied(spec), To: copied(changed), Field: f.path(), Retriable: f.isRetriable(), from: current, to: value}) {
						return
					}
				}
			}
		}
	}
}

// otherValues returns values to replace the current one. Some of them may be invalid.
func (f *field) otherValues(current any) []any {
	values := slices.Clone(f.values)
	switch {
	case f.isKnown && f.parent.schema.AdditionalProperties != nil && current != absent:
		values = near(current) // the known values are for the key that keyIn returns
	case !f.isKnown || !slices.Contains(f.values, current):
		values = append(near(current), values...)
	}
	if current != absent && f.name != elements {
		values = append(values, absent)
	}
	return slices.DeleteFunc(values, func(value any) bool { return current == absent && (value == "" || f.isDefault(value)) })
}

func (f *field) isRetriable() bool {
	return f.isKnown || f.schema.XIntOrString || len(f.schema.Enum) > 0 || slices.Contains([]string{"boolean", "integer", "number"}, f.schema.Type)
}

func (f *field) isDefault(value any) bool {
	return f.schema.Default != nil && string(f.schema.Default.Raw) == keyOf(value)
}

func copied(spec any) map[string]any {
	object, _ := runtime.DeepCopyJSONValue(spec).(map[string]any)
	return object
}

const maxShown = 40 // characters of a value

func show(value any) string {
	if value == absent {
		return "absent"
	}
	text := keyOf(value)
	if word, isText := value.(string); isText {
		text = fmt.Sprintf("%q", word)
	}
	if runes := []rune(text); len(runes) > maxShown {
		return fmt.Sprintf("%s… (%d characters)", string(runes[:maxShown]), len(runes))
	}
	return text
}
