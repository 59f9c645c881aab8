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
	g.Expect(exploration.Headline()).To(Equal("all 1 plans passed so far"))
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
