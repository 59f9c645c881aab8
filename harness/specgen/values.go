package specgen

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
)

// candidates returns possible values of a field, starting with the preferred one. Some of them may be invalid.
func (f *field) candidates() []any {
	switch {
	case len(f.schema.Enum) > 0:
		return enumValues(f.schema.Enum)
	case f.schema.XIntOrString:
		return []any{int64(1), "50%", "1Gi", "1"}
	case f.schema.Type == "integer", f.schema.Type == "number":
		return numbers(f.schema)
	case f.schema.Type == "string" && endsWith(f.name, "image"):
		return []any{"example:v1", "example:v2"} // the API server sets a different imagePullPolicy if the image has no tag
	case f.schema.Type == "string":
		return texts(f.schema)
	case f.schema.Type == "boolean":
		return []any{true, false}
	case f.schema.Type == "array":
		return lists(f)
	case f.schema.AdditionalProperties != nil:
		return objectsOfAnyKey(f)
	}
	return objects(f)
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

// maxExactInteger limits the integers to those that a float64 represents exactly. Larger maximums are ignored.
const maxExactInteger = 1 << 53

// numbers returns small numbers if there is no maximum, because many such fields are replica counts.
func numbers(schema *apiextensionsv1.JSONSchemaProps) []any {
	low, step := 0.0, 1.0
	if schema.Minimum != nil {
		low = *schema.Minimum
	}
	if schema.MultipleOf != nil {
		step = *schema.MultipleOf
	}
	found := []float64{low + step, low, low + 3*step}
	if high := schema.Maximum; high != nil && *high < maxExactInteger {
		found = []float64{(low + *high) / 2, low, *high, *high - step}
	}
	var values []any
	for _, number := range found {
		switch {
		case schema.Type == "integer":
			values = append(values, int64(math.Floor(number/step)*step))
		case schema.MultipleOf != nil:
			values = append(values, math.Floor(number/step)*step)
		default:
			values = append(values, number)
		}
	}
	return values
}

var formats = map[string][]any{
	"byte":     {"ZXhhbXBsZQ==", "b3RoZXI="},
	"cidr":     {"192.0.2.0/24", "2001:db8::/32"},
	"date":     {"2026-01-02", "2027-03-04"},
	"datetime": {"2026-01-02T03:04:05Z", "2027-03-04T05:06:07Z"},
	"duration": {"10s", "1h30m"},
	"email":    {"example@example.com", "other@example.com"},
	"hostname": {"example.com", "other.example.com"},
	"ipv4":     {"192.0.2.1", "192.0.2.2"},
	"ipv6":     {"2001:db8::1", "2001:db8::2"},
	"mac":      {"00:00:5e:00:53:01", "00:00:5e:00:53:02"},
	"uri":      {"https://example.com/", "https://other.example.com/"},
	"uuid":     {"6ba7b810-9dad-41d1-80b4-00c04fd430c8", "6ba7b811-9dad-41d1-80b4-00c04fd430c8"},
}

func texts(schema *apiextensionsv1.JSONSchemaProps) []any {
	if known, ok := formats[strings.ReplaceAll(schema.Format, "-", "")]; ok {
		return slices.Clone(known)
	}
	shortest := 1
	if schema.MinLength != nil {
		shortest = max(shortest, int(*schema.MinLength))
	}
	return slices.Concat([]any{"example", "other"}, matchingTexts(schema.Pattern), []any{strings.Repeat("a", shortest), ""})
}

// samplesPerPattern is large enough to get a string of printable ASCII characters for most patterns.
const samplesPerPattern = 64

// matchingTexts returns printable strings that match a pattern, shortest first. The result is deterministic.
func matchingTexts(pattern string) []any {
	if _, err := regexp.Compile(pattern); err != nil || pattern == "" {
		return nil
	}
	generator := rapid.StringMatching(pattern)
	var found []any
	for seed := range samplesPerPattern {
		text := generator.Example(seed)
		if !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }) {
			found = append(found, text)
		}
	}
	slices.SortStableFunc(found, func(a, b any) int { return cmp.Compare(len(a.(string)), len(b.(string))) })
	return found
}

func lists(f *field) []any {
	none := []any{}
	if len(f.children) == 0 || len(f.children[0].values) == 0 {
		return []any{none}
	}
	fewest, distinct := 1, f.children[0].values
	if f.schema.MinItems != nil {
		fewest = max(fewest, int(*f.schema.MinItems))
	}
	return []any{distinct[:min(fewest, len(distinct))], slices.Repeat(distinct[:1], fewest), none, distinct[:min(fewest+1, len(distinct))]}
}

func objectsOfAnyKey(f *field) []any {
	none := map[string]any{}
	if len(f.children) == 0 || len(f.children[0].values) == 0 {
		return []any{none}
	}
	return []any{map[string]any{keyIn(f): f.children[0].values[0]}, none}
}

// objects returns objects for the field. The first one contains only the required fields that have no default. Each of
// the others adds either a single field, or the fields that an element of oneOf or anyOf requires.
func objects(f *field) []any {
	least := map[string]any{}
	for _, child := range f.children {
		if slices.Contains(f.schema.Required, child.name) && child.schema.Default == nil && len(child.values) > 0 {
			least[child.name] = child.values[0]
		}
	}
	more := func(names ...string) any {
		object := maps.Clone(least)
		for _, child := range f.children {
			if slices.Contains(names, child.name) && len(child.values) > 0 {
				object[child.name] = child.values[0]
			}
		}
		return object
	}
	values := []any{least}
	for _, alternative := range slices.Concat(f.schema.OneOf, f.schema.AnyOf) {
		values = append(values, more(alternative.Required...))
	}
	for _, child := range f.children {
		values = append(values, more(child.name))
	}
	return values
}
