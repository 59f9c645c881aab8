package results_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/test/harness/report/results"
)

func failed(scenario, oracle, message string, confirmation *results.Confirmation) results.Plan {
	return results.Plan{
		Scenario: scenario, Type: "crash-after", At: "create secrets web 1", Triggered: true,
		Findings: []results.Finding{{Oracle: oracle, Message: message}}, Confirmation: confirmation,
	}
}

func TestTheWorstCauseThatComesAgainIsFirst(t *testing.T) {
	g := NewWithT(t)
	again := &results.Confirmation{Played: 3, Failed: 2, PlayedWithoutFault: 2}
	seldom := &results.Confirmation{Played: 3, Failed: 1, PlayedWithoutFault: 2}
	anyway := &results.Confirmation{Played: 3, Failed: 3, PlayedWithoutFault: 2, FailedWithoutFault: 1}
	exploration := results.Exploration{Plans: []results.Plan{
		{Scenario: "web/create", Type: "crash-after", Triggered: true, Passed: true},
		failed("web/create", "reference", "+ Secret/seldom is too many", seldom),
		failed("web/create", "reference", "+ Secret/anyway is too many", anyway),
		failed("web/create", "counts", "created secrets web 2 times, not 1 as in the reference", again),
		failed("web/scale", "counts", "created secrets web 3 times, not 1 as in the reference", nil),
		failed("web/create", "bounded-retries", "apply secrets web was sent 51 times within 2s", again),
	}}
	var symptoms []string
	for _, cause := range results.Causes(exploration.Plans) {
		symptoms = append(symptoms, cause.Symptom)
	}
	g.Expect(symptoms).To(HaveExactElements(
		ContainSubstring("was sent 51 times"), ContainSubstring("created too often"), ContainSubstring("seldom"), ContainSubstring("anyway")))
	g.Expect(exploration.FailureText()).To(And(
		HavePrefix("4 causes behind 5 failed plans: 1 hot-loop, 1 churn, 2 unstable\n"),
		ContainSubstring("✗ churn"),
		MatchRegexp(`\? unstable .*seldom.*\n.*: 1 of 3 times with the fault, 0 of 2 times without it`)))
	g.Expect(exploration.Err([]results.Severity{results.Lost, results.Lied})).To(Succeed(), "what is unstable fails nothing")
	g.Expect(exploration.Err([]results.Severity{results.Churn})).To(MatchError("1 cause behind 2 failed plans: 1 churn"))
}

func TestAFailureWhoseFaultDoesNotTriggerAgainIsUnstable(t *testing.T) {
	g := NewWithT(t)
	for confirmation, unstable := range map[results.Confirmation]bool{
		{Played: 3, Failed: 2, PlayedWithoutFault: 2}:  false,
		{Played: 2, Failed: 2, PlayedWithoutFault: 3}:  false,
		{Played: 2, Failed: 1, PlayedWithoutFault: 3}:  true,
		{Played: 1, Failed: 1, PlayedWithoutFault: 4}:  true,
		{PlayedWithoutFault: 5, FailedWithoutFault: 1}: true,
	} {
		g.Expect(confirmation.Unstable()).To(Equal(unstable), confirmation.String())
	}
}

func TestACauseComesAgainIfOneOfItsPlansDoes(t *testing.T) {
	g := NewWithT(t)
	const message = "created secrets web 2 times, not 1 as in the reference"
	causes := results.Causes([]results.Plan{
		failed("web/create", "counts", message, &results.Confirmation{Played: 3, Failed: 1, PlayedWithoutFault: 2}),
		failed("web/scale", "counts", message, nil),
		failed("web/delete", "counts", message, &results.Confirmation{Played: 3, Failed: 2, PlayedWithoutFault: 2}),
	})
	g.Expect(causes).To(HaveLen(1))
	g.Expect(causes[0].Confirmation.Unstable()).To(BeFalse())
	g.Expect(causes[0].Plans).To(Equal([]int{2, 0, 1}), "the best example is first")
}

func TestASeverityThatDoesNotExistIsRefused(t *testing.T) {
	g := NewWithT(t)
	g.Expect(results.ParseSeverities([]string{"lost", " churn"})).To(Equal([]results.Severity{results.Lost, results.Churn}))
	_, err := results.ParseSeverities([]string{"bad"})
	g.Expect(err).To(MatchError(`"bad" is no severity: want some of [lost hot-loop lied late churn]`))
}

func TestAFailureWithoutTheFaultIsToldAsSuch(t *testing.T) {
	g := NewWithT(t)
	plan := results.Plan{Scenario: "web/create", Type: "error-500", At: "get secrets web 3", Findings: []results.Finding{{Oracle: "converges", Message: "Converged: never"}}}
	const note = "it never triggered, so the failure came without it"
	g.Expect(results.Exploration{Plans: []results.Plan{plan}}.FailureText()).To(ContainSubstring(note))
	plan.Triggered = true
	g.Expect(results.Exploration{Plans: []results.Plan{plan}}.FailureText()).NotTo(ContainSubstring(note))
}
