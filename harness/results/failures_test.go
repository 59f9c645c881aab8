package results_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/verdict"
)

func TestConfirmedCausesAreFirst(t *testing.T) {
	g := NewWithT(t)
	confirmed := &verdict.Confirmation{Played: 3, Failed: 3, PlayedWithoutFault: 2}
	rare := &verdict.Confirmation{Played: 3, Failed: 1, PlayedWithoutFault: 2}
	exploration := results.Exploration{Plans: []results.Plan{
		failed("web/create", "reference", "rare", rare),
		failed("web/create", "reference", "not-yet", nil),
		failed("web/create", "reference", "nor-this", nil),
		failed("web/create", "counts", "web", confirmed),
	}}
	g.Expect(exploration.Headline()).To(Equal("4 causes behind 4 failed plans: 2 lost, 1 churn, 1 unstable"))
	exploration.Interrupted = true
	g.Expect(exploration.Headline()).To(Equal("4 causes behind 4 failed plans: 1 churn, 2 unconfirmed, 1 unstable"))
	var standings []string
	for _, cause := range exploration.Causes() {
		standings = append(standings, cause.Standing())
	}
	g.Expect(standings).To(Equal([]string{"churn", "unconfirmed", "unconfirmed", "unstable"}))
	g.Expect(exploration.FailureText()).To(MatchRegexp(`\? unconfirmed .*not-yet.*\n  1 plan +web/create crash-after create secrets web 1\n  rerun`))
	exploration.Plans = []results.Plan{{Passed: true}}
	g.Expect(exploration.Headline()).To(Equal("no failures in 1 plan so far"))
}

func TestFailureWithoutTriggeredFault(t *testing.T) {
	g := NewWithT(t)
	plan := results.Plan{Scenario: "web/create", Type: "error-500", At: "get secrets web 3"}
	plan.Findings = []verdict.Finding{{Oracle: "converges", Message: "Converged: never"}}
	const note = "it never triggered"
	g.Expect(results.Exploration{Plans: []results.Plan{plan}}.FailureText()).To(ContainSubstring(note))
	plan.Triggered = true
	g.Expect(results.Exploration{Plans: []results.Plan{plan}}.FailureText()).NotTo(ContainSubstring(note))
}

const atLine42 = "at controller/web.go:42: runtime error: index out of range [5] with length 0"

func withoutFault(scenario string, oracle verdict.Oracle, message string) results.FindingWithoutFault {
	return results.FindingWithoutFault{Scenario: scenario, Finding: verdict.Finding{Oracle: oracle, Detail: message, Message: message}}
}

func TestFindingWithoutFaultFailsAnExploration(t *testing.T) {
	g := NewWithT(t)
	passed := results.Plan{Scenario: "web/create", Type: "crash-after", Passed: true, Outcome: results.Outcome{Triggered: true}}
	e := results.Exploration{WithoutFault: []results.FindingWithoutFault{withoutFault("web/create", verdict.Panics, atLine42)}, Plans: []results.Plan{passed}}
	const one = "1 finding without any fault: 1 panic"
	g.Expect(e.HasFailed()).To(BeTrue())
	g.Expect(e.Headline()).To(Equal(one))
	g.Expect(e.Err(verdict.FailsOn)).To(MatchError(one))
	g.Expect(e.Err([]verdict.Severity{verdict.Lost})).To(Succeed())
	g.Expect(e.FailureText()).To(Equal(one + "\n\n✗ panic    " + atLine42 + "\n  without a fault  in web/create\n\n"))

	e.Plans = append(e.Plans, failed("web/create", "counts", "web", nil))
	e.WithoutFault = append(e.WithoutFault, withoutFault("web/delete", verdict.Converges, "first line\nsecond line"))
	g.Expect(e.FailureText()).To(And(ContainSubstring("in web/create\n"), ContainSubstring("✗ lost     first line\n  second line\n  without a fault  in web/delete\n")))
	g.Expect(e.Headline()).To(Equal("2 findings without any fault: 1 panic, 1 lost; 1 cause behind 1 failed plan: 1 churn"))
	g.Expect(e.Err(verdict.FailsOn)).To(MatchError("2 findings without any fault: 1 panic, 1 lost"))
	g.Expect(e.Err([]verdict.Severity{verdict.Panicked, verdict.Churn})).To(MatchError(one + "; 1 cause behind 1 failed plan: 1 churn"))

	g.Expect(results.Exploration{Plans: []results.Plan{passed}}.Headline()).To(Equal("no failures in 1 plan"))
	g.Expect(results.Exploration{Plans: []results.Plan{passed}}.HasFailed()).To(BeFalse())
	g.Expect(results.Exploration{Plans: []results.Plan{passed}}.FailureText()).To(BeEmpty())
	g.Expect(results.Exploration{}.Headline()).To(Equal("no plan was run"))
}
