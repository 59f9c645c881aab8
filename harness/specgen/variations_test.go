package specgen

import (
	"fmt"
	"slices"
	"testing"
)

func TestVariationsChangeOneFieldOfASpec(t *testing.T) {
	schema := load(t, "Queue")
	spec := map[string]any{"engine": "kafka", "size": int64(3)}
	var changes []string
	for _, variation := range schema.Variations(spec) {
		changes = append(changes, variation.String())
	}
	t.Log(changes)
	for _, want := range []string{`spec.engine: "kafka" → "rabbit"`, "spec.size: 3 → 2"} {
		if !slices.Contains(changes, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if spec["engine"] != "kafka" || len(spec) != 2 {
		t.Errorf("the spec itself has changed: %v", spec)
	}
}

func TestANumberThatCannotBeLessIsMore(t *testing.T) {
	schema := load(t, "Queue")
	variations := schema.Variations(map[string]any{"engine": "kafka", "size": int64(1)})
	if !slices.ContainsFunc(variations, func(v Transition) bool { return v.String() == "spec.size: 1 → 2" }) {
		t.Error(variations)
	}
}

func TestNoTwoVariationsMakeTheSameSpec(t *testing.T) {
	schema := load(t, "Certificate")
	first := map[string]string{}
	certificate := map[string]any{
		"secretName": "tls", "issuerRef": map[string]any{"name": "ca"}, "dnsNames": []any{"{{ a template }}"},
	}
	for _, variation := range schema.Variations(certificate) {
		spec, field := fmt.Sprint(variation.To), variation.Changed[0]
		if first[spec] != "" {
			t.Errorf("a change of %s and of %s make the same spec: %s", first[spec], field, spec)
		}
		first[spec] = field
	}
}
