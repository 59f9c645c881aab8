package results_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/verdict"
)

func failed(scenario string, oracle verdict.Oracle, name string, confirmation *verdict.Confirmation) results.Plan {
	object := verdict.Object{Kind: "Secret", Name: name, Problem: verdict.LeftOver}
	return results.Plan{
		Scenario: scenario, Type: "crash-after", At: "create secrets web 1",
		Outcome: results.Outcome{Triggered: true, Findings: []verdict.Finding{{Oracle: oracle, Objects: []verdict.Object{object}, Message: name}}, Confirmation: confirmation},
	}
}

func TestUnstableCausesAreNotErrors(t *testing.T) {
	g := NewWithT(t)
	confirmed := &verdict.Confirmation{Played: 3, Failed: 2, PlayedWithoutFault: 2}
	rare := &verdict.Confirmation{Played: 3, Failed: 1, PlayedWithoutFault: 2}
	anyway := &verdict.Confirmation{Played: 3, Failed: 3, PlayedWithoutFault: 2, FailedWithoutFault: 1}
	exploration := results.Exploration{Plans: []results.Plan{
		{Scenario: "web/create", Type: "crash-after", Passed: true, Outcome: results.Outcome{Triggered: true}},
		failed("web/create", "reference", "rare", rare),
		failed("web/create", "reference", "anyway", anyway),
		failed("web/create", "counts", "web", confirmed),
		failed("web/scale", "counts", "web", nil),
		failed("web/create", "bounded-retries", "hot", confirmed),
	}}
	g.Expect(exploration.FailureText()).To(And(
		HavePrefix("4 causes behind 5 failed plans: 1 hot-loop, 1 churn, 2 unstable\n"),
		ContainSubstring("✗ churn"),
		MatchRegexp(`\? unstable .*rare.*\n.*: 1 of 3 times with the fault, 0 of 2 times without it`)))
	g.Expect(exploration.Err([]verdict.Severity{verdict.Lost, verdict.Lied})).To(Succeed(), "unstable causes are not errors")
	g.Expect(exploration.Err([]verdict.Severity{verdict.Churn})).To(MatchError("1 cause behind 2 failed plans: 1 churn"))
}

func TestShortestTimelineIsFirst(t *testing.T) {
	var plans []results.Plan
	for _, run := range []*results.Run{
		nil,
		{Requests: make([]results.Request, 60), Versions: make([]results.Version, 60)},
		{Requests: make([]results.Request, 101)},
		{Steps: make([]results.Step, 1)},
		{Requests: make([]results.Request, 99)},
	} {
		plan := failed("web/create", "counts", "web", nil)
		plan.Run = run
		plans = append(plans, plan)
	}
	NewWithT(t).Expect(results.Exploration{Plans: plans}.Causes()[0].Plans).To(Equal([]int{4, 3, 2, 1, 0}))
}

func TestCauseListsRequestsOfFaults(t *testing.T) {
	g := NewWithT(t)
	one, two, three, four := failed("a", "counts", "web", nil), failed("a", "counts", "web", nil), failed("b", "counts", "web", nil), failed("b", "counts", "web", nil)
	one.At, four.Type = "patch secrets web", "error-500"
	other := failed("a", "counts", "db", nil)
	causes := results.Exploration{Plans: []results.Plan{other, one, two, three, four, {Scenario: "c", Passed: true}}}.Causes()
	g.Expect(causes).To(HaveLen(2))
	g.Expect(causes[0].Points).To(Equal([]results.Point{
		{Request: "create secrets web", Types: []string{"crash-after", "error-500"}, Plans: []int{2, 3, 4}},
		{Request: "patch secrets web", Types: []string{"crash-after"}, Plans: []int{1}},
	}), "the request with the most plans comes first")
}
