package results_test

import (
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/report/results"
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

func TestTheBestExampleOfACauseIsFirst(t *testing.T) {
	example := func(triggered bool, then string, run *results.Run) results.Plan {
		plan := failed("web/create", "counts", "created twice", nil)
		plan.Triggered, plan.Then, plan.Run = triggered, then, run
		return plan
	}
	again := example(false, "stale watch secrets - 1", nil)
	again.Confirmation = &results.Confirmation{Played: 3, Failed: 2}
	fromTheBest := []results.Plan{
		again,
		example(true, "", &results.Run{Requests: make([]results.Request, 99)}),
		example(true, "", &results.Run{Steps: make([]results.Step, 1)}),
		example(true, "", &results.Run{Requests: make([]results.Request, 101)}),
		example(true, "", &results.Run{Requests: make([]results.Request, 60), Versions: make([]results.Version, 60)}),
		example(true, "", nil),
		example(true, "stale watch secrets - 1", &results.Run{}),
		example(false, "", &results.Run{}),
	}
	g := NewWithT(t)
	for i, better := range fromTheBest {
		for _, worse := range fromTheBest[i+1:] {
			g.Expect(results.Causes([]results.Plan{better, worse})[0].Plans).To(Equal([]int{0, 1}))
			g.Expect(results.Causes([]results.Plan{worse, better})[0].Plans).To(Equal([]int{1, 0}))
		}
	}
}

func TestACauseSumsUpItsPlans(t *testing.T) {
	g := NewWithT(t)
	again, too := &results.Confirmation{Played: 3, Failed: 2}, &results.Confirmation{Played: 3, Failed: 3}
	const message = "created secrets web 2 times, not 1 as in the reference"
	one, two, three, four := failed("a", "counts", message, again), failed("a", "counts", message, too), failed("b", "counts", message, nil), failed("b", "counts", message, nil)
	two.Findings = append(two.Findings, results.Finding{Oracle: "stable", Message: "it changes"}, results.Finding{Oracle: "late", Message: "Converged took 9s"})
	one.At = "patch secrets web"
	four.Type = "error-500"
	other, none := failed("a", "counts", "created pods a 2 times, not 1 as in the reference", nil), results.Plan{Scenario: "a"}
	causes := results.Causes([]results.Plan{other, one, two, three, four, none})
	g.Expect(causes).To(HaveLen(3))
	g.Expect(causes[0].Oracles).To(Equal([]string{"counts", "stable", "late"}), "each once")
	g.Expect(causes[0].Severity).To(Equal(results.HotLoop), "the worst of all")
	g.Expect(causes[0].Confirmation).To(BeIdenticalTo(again), "the first of those that are as good")
	g.Expect(causes[0].Places).To(Equal([]results.Place{
		{Request: "create secrets web", Types: []string{"crash-after", "error-500"}, Plans: []int{2, 3, 4}},
		{Request: "patch secrets web", Types: []string{"crash-after"}, Plans: []int{1}},
	}), "the one with the most plans first")
	g.Expect([]string{causes[1].Symptom, causes[2].Symptom}).To(Equal([]string{"pods a created too often", "no finding"}))
}

func TestTheLargerOfTwoCausesIsFirst(t *testing.T) {
	one, two := failed("a", "late", "Converged took 9s", nil), failed("a", "late", "Asserted took 9s", nil)
	NewWithT(t).Expect(results.Causes([]results.Plan{one, two, two})[0].Symptom).To(HavePrefix("Asserted"))
}

func TestTheOracleThatExplainsMostNamesTheSymptom(t *testing.T) {
	g := NewWithT(t)
	fromTheMost := []string{"panics", "invariants", "bounded-retries", "counts", "reference", "stable", "converges", "late"}
	for i, more := range fromTheMost {
		for _, less := range fromTheMost[i+1:] {
			findings := []results.Finding{{Oracle: less, Message: less + " says"}, {Oracle: more, Message: more + " says"}}
			g.Expect(results.Causes([]results.Plan{{Findings: findings}})[0].Symptom).To(ContainSubstring(more))
			slices.Reverse(findings)
			g.Expect(results.Causes([]results.Plan{{Findings: findings}})[0].Symptom).To(ContainSubstring(more))
		}
	}
}

func TestTheSeverityIsThatOfTheWorstFinding(t *testing.T) {
	g := NewWithT(t)
	severity := func(oracles ...string) results.Severity {
		var plan results.Plan
		for _, oracle := range oracles {
			plan.Findings = append(plan.Findings, results.Finding{Oracle: oracle})
		}
		return plan.Severity()
	}
	for oracle, want := range map[string]results.Severity{
		"panics": results.Panic, "converges": results.Lost, "reference": results.Lost, "stable": results.HotLoop, "bounded-retries": results.HotLoop,
		"invariants": results.Lied, "late": results.Late, "counts": results.Churn, "one that is new": results.Lost,
	} {
		g.Expect(severity(oracle)).To(Equal(want), oracle)
		g.Expect(severity("counts", oracle)).To(Equal(want), oracle)
		g.Expect(severity(oracle, "counts")).To(Equal(want), oracle)
	}
	g.Expect(severity()).To(Equal(results.Churn))
}

func TestASeverityThatDoesNotExistIsRefused(t *testing.T) {
	g := NewWithT(t)
	g.Expect(results.ParseSeverities([]string{"lost", " churn"})).To(Equal([]results.Severity{results.Lost, results.Churn}))
	_, err := results.ParseSeverities([]string{"bad"})
	g.Expect(err).To(MatchError(`"bad" is no severity: want some of [panic lost hot-loop lied late churn]`))
}

func TestAFailureWithoutTheFaultIsToldAsSuch(t *testing.T) {
	g := NewWithT(t)
	plan := results.Plan{Scenario: "web/create", Type: "error-500", At: "get secrets web 3", Findings: []results.Finding{{Oracle: "converges", Message: "Converged: never"}}}
	const note = "it never triggered, so the failure came without it"
	g.Expect(results.Exploration{Plans: []results.Plan{plan}}.FailureText()).To(ContainSubstring(note))
	plan.Triggered = true
	g.Expect(results.Exploration{Plans: []results.Plan{plan}}.FailureText()).NotTo(ContainSubstring(note))
}
