package specgen

import (
	"fmt"
	"slices"
	"testing"
)

func TestVariationsChangeOneField(t *testing.T) {
	schema := load(t, "Queue")
	spec := map[string]any{"engine": "kafka", "size": int64(3)}
	var changes []string
	for _, variation := range schema.Variations(spec) {
		changes = append(changes, variation.String())
	}
	for _, want := range []string{`spec.engine: "kafka" → "rabbit"`, "spec.size: 3 → 2"} {
		if !slices.Contains(changes, want) {
			t.Errorf("got %q, want it to contain %s", changes, want)
		}
	}
	if spec["engine"] != "kafka" || len(spec) != 2 {
		t.Errorf("got a modified spec %v, want it unchanged", spec)
	}
}

func TestNearIncreasesNumberAtMinimum(t *testing.T) {
	schema := load(t, "Queue")
	variations := schema.Variations(map[string]any{"engine": "kafka", "size": int64(1)})
	if !slices.ContainsFunc(variations, func(v Transition) bool { return v.String() == "spec.size: 1 → 2" }) {
		t.Error(variations)
	}
}

func TestVariationsAreDifferent(t *testing.T) {
	schema := load(t, "Certificate")
	first := map[string]string{}
	certificate := map[string]any{
		"secretName": "tls", "issuerRef": map[string]any{"name": "ca"}, "dnsNames": []any{"{{ a template }}"},
	}
	for _, variation := range schema.Variations(certificate) {
		spec, field := fmt.Sprint(variation.To), variation.Changed[0]
		if first[spec] != "" {
			t.Errorf("got the same spec from a change of %s and of %s: %s", first[spec], field, spec)
		}
		first[spec] = field
	}
}
