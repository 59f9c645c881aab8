package specgen

import (
	"fmt"
	"math"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Invalid is a spec that violates the schema.
type Invalid struct {
	Spec map[string]any
	// Field is the path of the invalid field, and Why is the validation error.
	Field string
	Why   string
}

// Invalid returns specs with exactly one invalid field each, for example a number out of bounds, a value of the wrong
// type, a string that does not match its pattern, or a missing required field. The result is deterministic. It does not
// contain specs that are valid but cannot work, such as an image that does not exist.
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

func (f *field) invalidValues() []any {
	var found []any
	if f.name != elements {
		found = append(found, absent)
	}
	if len(f.schema.Enum) > 0 {
		found = append(found, "none-of-these")
	}
	switch f.schema.Type {
	case "integer", "number":
		return append(append(found, "text"), invalidNumbers(f.schema)...)
	case "string":
		return append(append(found, int64(1)), invalidStrings(f.schema)...)
	case "boolean":
		return append(found, "true")
	case "array":
		return append(append(found, "text"), f.invalidLists()...)
	case "object":
		return append(append(found, "text"), f.invalidMaps()...)
	default:
		return append(found, true) // for int-or-string
	}
}

func invalidNumbers(schema *apiextensionsv1.JSONSchemaProps) []any {
	var numbers []float64
	if schema.Minimum != nil {
		numbers = append(numbers, *schema.Minimum-1, *schema.Minimum)
	}
	if schema.Maximum != nil {
		numbers = append(numbers, *schema.Maximum+1, *schema.Maximum)
	}
	if schema.MultipleOf != nil {
		low, _ := bounds(schema)
		numbers = append(numbers, math.Max(low, 0)+*schema.MultipleOf/2)
	}
	if schema.Format == "int32" {
		numbers = append(numbers, math.MaxInt32+1)
	}
	wrong := []any{0.5}
	for _, number := range numbers {
		if whole := math.Floor(number); whole == number && math.Abs(number) < maxExactInteger {
			wrong = append(wrong, int64(number))
		} else {
			wrong = append(wrong, number)
		}
	}
	return wrong
}

// largestLimit bounds the size of invalid values. Values that exceed larger limits would not fit into a request.
const largestLimit = 1 << 16

func invalidStrings(schema *apiextensionsv1.JSONSchemaProps) []any {
	var wrong []any
	if schema.MinLength != nil && *schema.MinLength > 0 {
		wrong = append(wrong, strings.Repeat("a", int(*schema.MinLength)-1))
	}
	if schema.MaxLength != nil && *schema.MaxLength < largestLimit {
		wrong = append(wrong, strings.Repeat("a", int(*schema.MaxLength)+1))
	}
	if schema.Pattern != "" || schema.Format != "" {
		wrong = append(wrong, "? !")
	}
	return wrong
}

func (f *field) invalidLists() []any {
	if len(f.children) == 0 || len(f.children[0].values) == 0 {
		return nil
	}
	element := f.children[0].values[0]
	wrong := []any{[]any{}, []any{element, element}}
	if f.schema.MinItems != nil && *f.schema.MinItems > 0 {
		wrong = append(wrong, slices.Repeat([]any{element}, int(*f.schema.MinItems)-1))
	}
	if f.schema.MaxItems != nil && *f.schema.MaxItems < largestLimit {
		wrong = append(wrong, slices.Repeat([]any{element}, int(*f.schema.MaxItems)+1))
	}
	return wrong
}

func (f *field) invalidMaps() []any {
	wrong := []any{map[string]any{}}
	if f.schema.MaxProperties != nil && *f.schema.MaxProperties < largestLimit && len(f.children) == 1 && len(f.children[0].values) > 0 {
		many := map[string]any{}
		for i := range *f.schema.MaxProperties + 1 {
			many[fmt.Sprint("key", i)] = f.children[0].values[0]
		}
		wrong = append(wrong, many)
	}
	return wrong
}
