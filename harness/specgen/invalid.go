package specgen

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Invalid is a spec that violates the schema.
type Invalid struct {
	Spec map[string]any
	// Field is the path of the invalid field, and Why is the validation error.
	Field string
	Why   string
}

// Invalid returns specs with one invalid field each, for example a number out of bounds, a value of the wrong type, a
// string that does not match its pattern, or a missing required field. The result is deterministic.
func (s *Schema) Invalid() []Invalid {
	var found []Invalid
	seen := map[string]bool{}
	for _, f := range s.fields {
		if f.parent == nil || f.context == nil {
			continue
		}
		for _, mistake := range f.invalidValues() {
			spec := f.with(f.context, mistake)
			err := s.rules.check(spec)
			if key := keyOf(spec); err != nil && !seen[key] {
				seen[key] = true
				found = append(found, Invalid{Spec: asObject(spec), Field: f.path(), Why: err.Error()})
			}
		}
	}
	return found
}

// invalidValues returns values of every JSON type, values just outside the limits of the schema, and absent. Some of
// them may be valid.
func (f *field) invalidValues() []any {
	values := []any{"? !", true, 0.5, []any{}, map[string]any{}}
	if f.name != elements {
		values = append(values, absent)
	}
	if f.schema.Format == "int32" {
		values = append(values, int64(math.MaxInt32)+1)
	}
	for _, limit := range []*float64{f.schema.Minimum, f.schema.Maximum, f.schema.MultipleOf} {
		if limit != nil {
			values = append(values, *limit-1, *limit, *limit+1) // the limit itself may be exclusive
		}
	}
	for _, limit := range []*int64{f.schema.MinLength, f.schema.MaxLength, f.schema.MinItems, f.schema.MaxItems} {
		if limit == nil || *limit > largestLimit {
			continue
		}
		for _, length := range []int{max(0, int(*limit)-1), int(*limit) + 1} {
			values = append(values, strings.Repeat("a", length))
			if len(f.children) == 1 && len(f.children[0].values) > 0 {
				values = append(values, slices.Repeat(f.children[0].values[:1], length))
			}
		}
	}
	if len(f.children) == 0 || f.children[0].name != elements || len(f.children[0].values) == 0 {
		return values
	}
	element := f.children[0].values[0]
	if f.schema.Type == "array" {
		values = append(values, []any{element, element}) // invalid in a set or a map list
	}
	if limit := f.schema.MaxProperties; limit != nil && *limit <= largestLimit {
		many := map[string]any{}
		for i := range *limit + 1 {
			many[fmt.Sprint("key", i)] = element
		}
		values = append(values, many)
	}
	return values
}

// largestLimit bounds the size of invalid values. Values that exceed larger limits would not fit into a request.
const largestLimit = 1 << 16
