package explore

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/fault"
)

func (e *Explorer) allPlans() (all []Plan) {
	for _, category := range fault.Categories {
		all = append(all, e.planner.plans(category)...)
	}
	return all
}

func unchanged(Plan) bool { return false }

func TestSelectionIsTheSameForTheSameSeed(t *testing.T) {
	g, all := NewWithT(t), learnedExplorer(1, "a", "b").allPlans()
	choose := func(seed string) []Selected { return Selection{Budget: 60, Seed: seed, Changed: unchanged}.Choose(all) }
	g.Expect(choose("commit")).To(Equal(choose("commit")))
	g.Expect(choose("commit")).NotTo(Equal(choose("other")))
	g.Expect(choose("commit")).To(HaveLen(60))
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	g.Expect(Selection{Budget: 60, Seed: "commit", Changed: unchanged}.Choose(reversed)).To(ConsistOf(choose("commit")))
}

func TestSelectionHasEveryScenarioAndFaultType(t *testing.T) {
	g, all := NewWithT(t), learnedExplorer(1, "a", "b").allPlans()
	combinations := func(plans ...Plan) map[string]bool {
		found := map[string]bool{}
		for _, plan := range plans {
			found[plan.Scenario+plan.Fault.Name()] = true
		}
		return found
	}
	var chosen []Plan
	for _, plan := range (Selection{Budget: 1, Changed: unchanged}).Choose(all) {
		chosen = append(chosen, plan.Plan)
	}
	g.Expect(combinations(chosen...)).To(Equal(combinations(all...)))
	g.Expect(chosen).To(HaveLen(len(combinations(all...))), "without duplicates, even beyond the budget")
}

func TestSelectionPrefersFailedAndChangedPlans(t *testing.T) {
	g, all := NewWithT(t), learnedExplorer(1, "a", "b").allPlans()
	failed := "b delayed-write apply secrets web 7"
	chosen := Selection{
		Budget: 300, Seed: "commit", Failed: []string{failed, "a gone"},
		Changed: func(plan Plan) bool { return plan.Scenario == "a" && plan.Fault.Type == fault.LostResponse },
	}.Choose(all)
	lost := 0
	for _, plan := range chosen {
		if plan.Scenario == "a" && plan.Fault.Type == fault.LostResponse {
			lost++
		}
		if (plan.Reason == failedLastTime) != (plan.String() == failed) {
			t.Errorf("got reason %q for %s", plan.Reason, plan)
		}
	}
	g.Expect(lost).To(Equal(20), "all changed plans are selected")
}
