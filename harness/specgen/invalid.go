package specgen

import (
	"math"
	"slices"
	"strings"
)

// Invalid is a spec that violates the schema.
type Invalid struct {
	Spec map[string]any
	Why  string // the validation error
}

// Invalid returns copies of a valid spec. In each copy, one field is invalid.
func (s *Schema) Invalid(spec map[string]any) []Invalid {
	var found []Invalid
	seen := map[string]bool{}
	for _, f := range s.fields[1:] {
		if !f.reachable(spec) {
			continue
		}
		for _, mistake := range f.invalidValues() {
			changed := f.with(spec, mistake)
			err := s.rules.check(changed)
			if key := keyOf(changed); err != nil && !seen[key] {
				seen[key] = true
				found = append(found, Invalid{copied(changed), err.Error()})
			}
		}
	}
	return found
}

// invalidValues returns values that may be invalid: values of other types, values near the limits, and no value.
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
			if f.schema.Type == "array" && len(f.children) > 0 && len(f.children[0].values) > 0 {
				values = append(values, slices.Repeat(f.children[0].values[:1], length))
			}
		}
	}
	return values
}

// largestLimit is the largest length limit to test. Longer values may exceed the size limit of a request.
const largestLimit = 1 << 16
