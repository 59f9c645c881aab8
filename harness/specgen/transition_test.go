package specgen

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTransitionsChangeOneFieldEach(t *testing.T) {
	g := NewWithT(t)
	schema := schemaWith(t, `properties: {a: {type: boolean}, b: {type: integer, minimum: 0, maximum: 2}}`)
	changes := map[string]int{}
	for i, transition := range schema.Transitions(1, 150) {
		changes[transition.String()]++
		g.Expect(transition.Changed).To(HaveLen(1), "%s", transition)
		if i < 12 {
			g.Expect(transition.Changed[0]).To(Equal([]string{"spec.a", "spec.b"}[i%2]), "%d: %s", i, transition)
		}
	}
	g.Expect(changes).To(HaveLen(18), "3·2 pairs of values of spec.a and 4·3 pairs of spec.b")
	g.Expect(changes).To(And(HaveEach(1), HaveKey("spec.a: absent → true"), HaveKey("spec.b: 2 → 0")))
}

func TestTransitionsFollowCELRules(t *testing.T) {
	g := NewWithT(t)
	var changes []string
	for _, transition := range load(t, "Queue").Transitions(1, 200) {
		changes = append(changes, transition.String())
	}
	g.Expect(changes).To(ContainElements("spec.size: absent → 3", "spec.size: 0 → 3", "spec.size: 1 → absent"))
	g.Expect(changes).NotTo(ContainElement(ContainSubstring("spec.engine")), "the engine cannot change")
	g.Expect(changes).NotTo(ContainElement("spec.size: 3 → 0"), "a queue cannot shrink")
}

func TestTransitionsDependOnSeed(t *testing.T) {
	g := NewWithT(t)
	schema := load(t, "Cluster")
	first := schema.Transitions(1, 60)
	g.Expect(first).To(HaveLen(60))
	g.Expect(schema.Transitions(1, 60)).To(Equal(first))
	g.Expect(schema.Transitions(2, 60)).NotTo(Equal(first))
	g.Expect(schema.Transitions(1, 40)).To(Equal(first[:40]))
	g.Expect(schema.Transitions(1, 0)).To(BeEmpty())
}

func TestTransitionsStopAtLimit(t *testing.T) {
	g := NewWithT(t)
	schema := load(t, "Cluster")
	allocations := func(limit int) float64 { return testing.AllocsPerRun(1, func() { schema.Transitions(1, limit) }) }
	g.Expect(allocations(1)).To(BeNumerically("<", allocations(1000)/2))
}

func TestTransitionsDoNotShareMemory(t *testing.T) {
	g := NewWithT(t)
	schema := schemaWith(t, `properties: {x: {type: object, additionalProperties: {type: string}}}`)
	for _, transition := range schema.Transitions(1, 100) {
		for _, spec := range []map[string]any{transition.From, transition.To} {
			if x, isMap := spec["x"].(map[string]any); isMap {
				x["modified"] = "yes"
			}
		}
	}
	for _, transition := range schema.Transitions(1, 100) {
		g.Expect(transition.String()).NotTo(ContainSubstring("modified"))
	}
}

func TestTransitionString(t *testing.T) {
	for name, test := range map[string]struct {
		transition Transition
		want       string
	}{
		"values": {
			Transition{From: map[string]any{"image": "a", "size": int64(1)}, To: map[string]any{"image": "b", "size": nil}},
			`spec.image: "a" → "b", spec.size: 1 → null`,
		},
		"nested field": {
			Transition{From: map[string]any{"x": map[string]any{"y": true, "z": true}}, To: map[string]any{"x": map[string]any{"z": true}}},
			`spec.x.y: true → absent`,
		},
		"a list is a single field": {
			Transition{From: map[string]any{"x": []any{int64(1)}}, To: map[string]any{"x": []any{int64(1), int64(2)}}},
			`spec.x: [1] → [1,2]`,
		},
		"a long value is shortened": {
			Transition{From: map[string]any{}, To: map[string]any{"x": strings.Repeat("a", 100)}},
			`spec.x: absent → "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa… (102 characters)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(test.transition.String()).To(Equal(test.want))
		})
	}
}
