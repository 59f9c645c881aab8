package specgen

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"pgregory.net/rapid"
)

// numberValues returns the midpoint of the valid range and its bounds. If a bound is missing, it returns numbers near
// the other bound or zero.
func numberValues(schema *apiextensionsv1.JSONSchemaProps) []any {
	low, high := bounds(schema)
	step := 1.0
	if schema.MultipleOf != nil {
		step = *schema.MultipleOf
	}
	var found []float64
	switch {
	case !math.IsInf(low, 0) && !math.IsInf(high, 0):
		found = []float64{low + (high-low)/2, low, high}
	case math.IsInf(high, 0):
		low = math.Max(low, 0)
		found = []float64{low + step, low, low + 3*step}
	default:
		found = []float64{math.Min(high, step), high, high - step}
	}
	var values []any
	for _, number := range found {
		if schema.MultipleOf != nil {
			number = math.Floor(number/step) * step
		}
		if number > high {
			continue
		}
		if schema.Type == "integer" {
			values = append(values, int64(number))
		} else {
			values = append(values, number)
		}
	}
	return values
}

// maxExactInteger is the largest n for which a float64 represents every integer up to n exactly. Larger bounds are
// ignored.
const maxExactInteger = 1 << 53

// bounds returns the smallest and the largest valid number. They are infinite if the schema has no bounds.
func bounds(schema *apiextensionsv1.JSONSchemaProps) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if schema.Minimum != nil && math.Abs(*schema.Minimum) < maxExactInteger {
		low = *schema.Minimum
		if schema.ExclusiveMinimum && schema.Type == "integer" {
			low = math.Floor(low) + 1
		}
	}
	if schema.Maximum != nil && math.Abs(*schema.Maximum) < maxExactInteger {
		high = *schema.Maximum
		if schema.ExclusiveMaximum && schema.Type == "integer" {
			high = math.Ceil(high) - 1
		}
	}
	if schema.Type == "integer" {
		low, high = math.Ceil(low), math.Floor(high)
	}
	return low, high
}

func intOrString(schema *apiextensionsv1.JSONSchemaProps, rules schemaValidator) []any {
	text := schema.DeepCopy()
	text.Type = "string"
	for _, candidate := range append([]any{"50%", "1Gi", "1"}, stringValues(text, rules)...) {
		if rules.check(candidate) == nil {
			return []any{int64(1), candidate}
		}
	}
	return []any{int64(1)}
}

func stringValues(schema *apiextensionsv1.JSONSchemaProps, rules schemaValidator) []any {
	words := []string{"example", "other"}
	if formatted, known := formats[strings.ReplaceAll(schema.Format, "-", "")]; known {
		words = formatted
	}
	shortest, longest := 0, 0
	if schema.MinLength != nil {
		shortest = int(*schema.MinLength)
	}
	if schema.MaxLength != nil {
		longest = min(int(*schema.MaxLength), max(shortest, maxLength))
	}
	var values []any
	valid := func(candidates ...string) {
		for _, text := range candidates {
			if rules.check(text) == nil {
				values = append(values, text)
			}
		}
	}
	for _, word := range words {
		valid(word)
	}
	if len(values) == 0 {
		valid(matchingStrings(schema.Pattern, rules)...)
	}
	valid(strings.Repeat("a", shortest), strings.Repeat("a", longest))
	return values
}

// maxLength is the maximum length of generated strings. Larger limits in a schema usually protect only the storage.
const maxLength = 1024

var formats = map[string][]string{
	"byte":        {"ZXhhbXBsZQ==", "b3RoZXI="},
	"cidr":        {"192.0.2.0/24", "2001:db8::/32"},
	"date":        {"2026-01-02", "2027-03-04"},
	"datetime":    {"2026-01-02T03:04:05Z", "2027-03-04T05:06:07Z"},
	"duration":    {"10s", "1h30m"},
	"email":       {"example@example.com", "other@example.com"},
	"hexcolor":    {"#ffffff", "#000000"},
	"hostname":    {"example.com", "other.example.com"},
	"ipv4":        {"192.0.2.1", "192.0.2.2"},
	"ipv6":        {"2001:db8::1", "2001:db8::2"},
	"k8slongname": {"example.com", "other.example.com"},
	"mac":         {"00:00:5e:00:53:01", "00:00:5e:00:53:02"},
	"rgbcolor":    {"rgb(255,255,255)", "rgb(0,0,0)"},
	"uri":         {"https://example.com/", "https://other.example.com/"},
	"uuid":        {"6ba7b810-9dad-41d1-80b4-00c04fd430c8", "6ba7b811-9dad-41d1-80b4-00c04fd430c8"},
	"uuid3":       {"6ba7b810-9dad-31d1-80b4-00c04fd430c8", "6ba7b811-9dad-31d1-80b4-00c04fd430c8"},
	"uuid4":       {"6ba7b810-9dad-41d1-80b4-00c04fd430c8", "6ba7b811-9dad-41d1-80b4-00c04fd430c8"},
	"uuid5":       {"6ba7b810-9dad-51d1-80b4-00c04fd430c8", "6ba7b811-9dad-51d1-80b4-00c04fd430c8"},
}

// samplesPerPattern is large enough to get two strings of printable ASCII characters for most patterns.
const samplesPerPattern = 64

// matchingStrings returns a short and a long string that match a pattern. The result is deterministic.
func matchingStrings(pattern string, rules schemaValidator) []string {
	if _, err := regexp.Compile(pattern); err != nil || pattern == "" {
		return nil
	}
	generator := rapid.StringMatching(pattern)
	var plain, all []string
	for seed := range samplesPerPattern {
		text := generator.Example(seed)
		if rules.check(text) != nil {
			continue
		}
		all = append(all, text)
		if !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }) {
			plain = append(plain, text)
		}
	}
	if len(plain) > 0 {
		all = plain
	}
	if len(all) == 0 {
		return nil
	}
	byLength := func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
	return []string{slices.MinFunc(all, byLength), slices.MaxFunc(all, byLength)}
}
