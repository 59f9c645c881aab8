package specgen

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// candidates returns possible values of a field, starting with the most common one. Some may be invalid.
func (b *builder) candidates(f *field, rules schemaValidator) []any {
	var values []any
	switch known := f.kubernetesValues(rules); {
	case len(known) > 0:
		values = known
	case len(f.schema.Enum) > 0:
		values = enumValues(f.schema.Enum)
	case f.schema.XIntOrString:
		values = intOrString(f.schema, rules)
	case f.schema.Type == "integer", f.schema.Type == "number":
		values = numberValues(f.schema)
	case f.schema.Type == "string":
		values = stringValues(f.schema, rules)
	case f.schema.Type == "boolean":
		values = []any{true, false}
	case f.schema.Type == "array":
		values = listValues(f)
	case f.schema.AdditionalProperties != nil:
		values = mapValues(f)
	default:
		values = objectValues(f, rules)
	}
	if f.schema.Nullable {
		values = append(values, nil)
	}
	return values
}

func enumValues(enum []apiextensionsv1.JSON) []any {
	var values []any
	for _, text := range enum {
		var value any
		if err := utiljson.Unmarshal(text.Raw, &value); err == nil {
			values = append(values, value)
		}
	}
	return values
}

// objectValues returns an object with only the required fields. If this object is invalid, the schema is probably a
// union, so objectValues also returns objects with one more field, with the fields that oneOf and anyOf require, and
// with all fields.
func objectValues(f *field, rules schemaValidator) []any {
	least := map[string]any{}
	if f.schema.XEmbeddedResource {
		least = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "example"}}
	}
	for _, child := range f.children {
		if slices.Contains(f.schema.Required, child.name) && child.schema.Default == nil && len(child.values) > 0 {
			least[child.name] = child.values[0]
		}
	}
	values := []any{least}
	if f.schema.XPreserveUnknownFields != nil && *f.schema.XPreserveUnknownFields {
		more := maps.Clone(least)
		more["example"] = "value"
		values = append(values, more)
	}
	if rules.check(least) == nil {
		return values
	}
	var every []string
	for _, child := range f.children {
		values = append(values, f.withUsual(least, child.name))
		every = append(every, child.name)
	}
	for _, alternative := range slices.Concat(f.schema.OneOf, f.schema.AnyOf) {
		values = append(values, f.withUsual(least, alternative.Required...))
	}
	return append(values, f.withUsual(least, every...))
}

func (f *field) withUsual(object map[string]any, names ...string) map[string]any {
	object = maps.Clone(object)
	for _, child := range f.children {
		if slices.Contains(names, child.name) && len(child.values) > 0 {
			object[child.name] = child.values[0]
		}
	}
	return object
}

func mapValues(f *field) []any {
	var value any = "value" // used if the schema does not describe the values
	if len(f.children) > 0 {
		if len(f.children[0].values) == 0 {
			return []any{map[string]any{}}
		}
		value = f.children[0].values[0]
	}
	keys := keysOf(f)
	one := map[string]any{keys[0]: value}
	return []any{one, map[string]any{}, map[string]any{keys[0]: value, keys[1]: value}}
}

// listValues returns lists with one, zero and two elements, or more if minItems requires more.
func listValues(f *field) []any {
	none := []any{}
	if len(f.children) == 0 {
		return []any{none}
	}
	fewest := 1
	if f.schema.MinItems != nil {
		fewest = max(fewest, int(*f.schema.MinItems))
	}
	distinct := distinctElements(f, fewest+1)
	if len(distinct) == 0 {
		return []any{none}
	}
	return []any{distinct[:min(fewest, len(distinct))], none, distinct, slices.Repeat(distinct[:1], fewest)}
}

// distinctElements returns up to count elements that a list can contain together, even if it is a set or a map list.
func distinctElements(list *field, count int) []any {
	loose := list.schema.DeepCopy()
	loose.MinItems, loose.MaxItems = nil, nil
	rules, err := newSchemaValidator(list.path(), loose)
	if err != nil {
		return nil // already reported for the list
	}
	var chosen []any
	seen := map[string]bool{}
	for _, candidate := range variants(list.children[0]) {
		together := slices.Concat(chosen, []any{candidate})
		if key := keyOf(candidate); len(chosen) < count && !seen[key] && rules.check(together) == nil {
			chosen, seen[key] = together, true
		}
	}
	return chosen
}

// variants returns the values of an element. For objects, it also varies each field of the most common value.
func variants(element *field) []any {
	if len(element.values) == 0 {
		return nil
	}
	found := slices.Clone(element.values)
	for _, child := range element.children {
		for _, value := range child.values {
			found = append(found, child.into(element.values[0], value))
		}
	}
	return found
}
