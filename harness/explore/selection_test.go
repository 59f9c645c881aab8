package explore

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/fault"
)

// recorded returns the plans of two scenarios in which every write directly follows the previous one.
func recorded(t *testing.T) []Planned {
	t.Helper()
	e := learnedExplorer(1, "a", "b")
	var all []Planned
	for _, plan := range e.allPlans() {
		planned := Planned{Plan: plan}
		if plan.Fault.Type == fault.CrashBefore && plan.Fault.At.Nth > 1 {
			planned.IsEquivalent = true
		}
		all = append(all, planned)
	}
	return all
}

func (e *Explorer) allPlans() (all []Plan) {
	for _, category := range fault.Categories {
		all = append(all, e.planner.plans(category)...)
	}
	return all
}

func unchanged(Plan) bool { return false }

func TestSelectionIsTheSameForTheSameSeed(t *testing.T) {
	g, all := NewWithT(t), recorded(t)
	choose := func(seed string) []Selected { return Selection{Budget: 60, Seed: seed, Changed: unchanged}.Choose(all) }
	g.Expect(choose("commit")).To(Equal(choose("commit")))
	g.Expect(choose("commit")).NotTo(Equal(choose("other")))
	g.Expect(choose("commit")).To(HaveLen(60))
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	g.Expect(Selection{Budget: 60, Seed: "commit", Changed: unchanged}.Choose(reversed)).To(ConsistOf(choose("commit")))
}

func TestSelectionCoversPlansByPriority(t *testing.T) {
	g, all := NewWithT(t), recorded(t)
	combination := func(plan Plan) string { return plan.Scenario + " " + plan.Fault.Name() }
	combinations := map[string]bool{}
	for _, plan := range all {
		combinations[combination(plan.Plan)] = true
	}
	covered := map[string]bool{}
	for _, plan := range (Selection{Budget: 1, Changed: unchanged}).Choose(all) {
		g.Expect(covered[combination(plan.Plan)]).To(BeFalse(), "%s is selected twice, although the budget is exceeded", combination(plan.Plan))
		covered[combination(plan.Plan)] = true
	}
	g.Expect(covered).To(Equal(combinations))

	const failed = "b delayed-write apply secrets web 7"
	hasChanged := func(plan Plan) bool { return plan.Scenario == "a" && plan.Fault.Type == fault.LostResponse }
	changed := 0
	for _, plan := range (Selection{Budget: 300, Seed: "commit", Failed: []string{failed, "a gone"}, Changed: hasChanged}).Choose(all) {
		if hasChanged(plan.Plan) {
			changed++
		}
		if isFailed := plan.String() == failed; isFailed != (plan.Reason == failedLastTime) {
			t.Errorf("%s: got reason %q", plan, plan.Reason)
		}
	}
	g.Expect(changed).To(Equal(20), "all changed plans are selected")

	whole := Selection{Budget: len(all), Changed: unchanged}.Choose(all)
	g.Expect(len(whole)).To(BeNumerically("<", len(all)))
	for _, plan := range whole { // a crash before a write is equivalent to a crash after the previous one
		g.Expect(plan.Fault.Type == fault.CrashBefore && plan.Fault.At.Nth > 1 && plan.Reason != everyType).To(BeFalse(), plan.String())
	}
}

func TestDirectlyAfter(t *testing.T) {
	key := func(name string) fault.RequestKey {
		return fault.RequestKey{Verb: "apply", Target: "secrets", Name: name, Nth: 1}
	}
	writes := []fault.Write{
		{RequestKey: key("a"), ResourceVersion: "9"}, {RequestKey: key("b"), ResourceVersion: "12"},
		{RequestKey: key("c"), ResourceVersion: "13"}, {RequestKey: key("deleted")}, {RequestKey: key("d"), ResourceVersion: "100"},
	}
	NewWithT(t).Expect(directlyAfter(writes, []uint64{9, 10, 12, 13, 100, 101})).To(Equal(map[fault.RequestKey]fault.RequestKey{
		key("c"): key("b"), // an object changed between a and b, and before d there was a delete without a resource version
	}))
}
