package specgen

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

type builder struct {
	examples map[string][]any // by path
	fields   []*field
	errs     []error
}

func build(spec *apiextensionsv1.JSONSchemaProps, examples map[string][]any) (*Schema, error) {
	rules, err := newSchemaValidator(specField, spec)
	if err != nil {
		return nil, err
	}
	b := &builder{examples: examples}
	b.add(nil, specField, spec)
	for path := range examples {
		if !slices.ContainsFunc(b.fields, func(f *field) bool { return f.path() == path }) {
			b.errs = append(b.errs, fmt.Errorf("cannot use the examples of %s: no such field", path))
		}
	}
	if err := errors.Join(b.errs...); err != nil {
		return nil, err
	}
	s := &Schema{rules: rules.withCEL(), fields: b.fields}
	for _, f := range s.fields {
		s.chooseContext(f)
	}
	return s, nil
}

// add adds a field and its values. It adds the children of the field first.
func (b *builder) add(parent *field, name string, schema *apiextensionsv1.JSONSchemaProps) *field {
	f := &field{parent: parent, name: name, schema: schema}
	b.fields = append(b.fields, f)
	examples, given := b.examples[f.path()]
	if !given {
		b.descend(f)
	}
	rules, err := newSchemaValidator(f.path(), schema)
	if err != nil {
		b.errs = append(b.errs, fmt.Errorf("%s: %w", f.path(), err))
		return f
	}
	if given {
		for _, example := range examples {
			value, err := asJSON(example)
			if err == nil {
				err = rules.check(value)
			}
			if err != nil {
				b.errs = append(b.errs, fmt.Errorf("invalid example %v of %s: %w", example, f.path(), err))
			}
			f.values = append(f.values, value)
		}
		return f
	}
	seen := map[string]bool{}
	for _, value := range b.candidates(f, rules) {
		if key := keyOf(value); !seen[key] && rules.check(value) == nil {
			seen[key] = true
			f.values = append(f.values, value)
		}
	}
	return f
}

func (b *builder) descend(f *field) {
	for _, name := range slices.Sorted(maps.Keys(f.schema.Properties)) {
		if f.schema.XEmbeddedResource && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
			continue // do not vary the kind or name of an embedded object
		}
		property := f.schema.Properties[name]
		f.children = append(f.children, b.add(f, name, &property))
	}
	if f.schema.Items != nil && f.schema.Items.Schema != nil {
		f.children = append(f.children, b.add(f, elements, f.schema.Items.Schema))
	}
	if f.schema.AdditionalProperties != nil && f.schema.AdditionalProperties.Schema != nil {
		f.children = append(f.children, b.add(f, elements, f.schema.AdditionalProperties.Schema))
	}
}

// chooseContext finds a spec that allows as many values of a field as possible. It tries the usual spec first, and then
// the other values of the enclosing fields. It sets no context if the field or an enclosing field has no known values.
func (s *Schema) chooseContext(f *field) {
	if len(f.values) == 0 || !f.reachable() {
		return
	}
	usual := s.fields[0].values[0]
	s.tryContext(f, usual)
	for outer := f.parent; outer != nil && len(f.choices) < 2; outer = outer.parent {
		for _, value := range outer.values[min(1, len(outer.values)):] {
			s.tryContext(f, outer.with(usual, value))
		}
	}
}

func (s *Schema) tryContext(f *field, context any) {
	candidates := f.values
	if f.parent != nil && f.name != elements {
		candidates = append([]any{absent}, f.values...)
	}
	var choices []any
	for _, value := range candidates {
		if s.rules.check(f.with(context, value)) == nil {
			choices = append(choices, value)
		}
	}
	if f.context == nil || len(choices) > len(f.choices) {
		f.context, f.choices = context, choices
	}
}

// asJSON converts a value to the JSON types of unstructured objects, whose numbers are int64 or float64.
func asJSON(value any) (decoded any, err error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return decoded, utiljson.Unmarshal(encoded, &decoded)
}

// keyOf returns a string that is the same for equal values.
func keyOf(value any) string {
	if value == absent {
		return ""
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return err.Error() // cannot happen: the value was decoded from JSON
	}
	return string(encoded)
}
