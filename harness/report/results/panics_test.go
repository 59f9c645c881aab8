package results_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/report/results"
)

const atLine42 = "at controller/web.go:42: runtime error: index out of range [5] with length 0"

func TestAPanicExplainsMoreThanItsConsequences(t *testing.T) {
	g := NewWithT(t)
	lost := failed("web/create", "reference", "+ Secret/web is too many", nil)
	lost.Findings = append(lost.Findings, results.Finding{Oracle: "panics", Message: atLine42})
	alone := failed("web/scale", "panics", "at controller/web.go:42: runtime error: index out of range [7] with length 3\nat controller/b.go:1: boom", nil)
	elsewhere := failed("web/scale", "panics", "at controller/web.go:43: runtime error: index out of range [7] with length 3", nil)
	exploration := results.Exploration{Plans: []results.Plan{lost, alone, elsewhere}}
	causes := results.Causes(exploration.Plans)
	g.Expect(causes).To(HaveLen(2))
	g.Expect(causes[0].Symptom).To(Equal("panic at controller/web.go:42: runtime error: index out of range […] with length …"))
	g.Expect(causes[0].Severity).To(Equal(results.Panic))
	g.Expect(exploration.Headline()).To(Equal("2 causes behind 3 failed plans: 2 panic"))
	g.Expect(exploration.Err(results.FailsOn)).To(MatchError("2 causes behind 3 failed plans: 2 panic"))
	g.Expect(exploration.Err([]results.Severity{results.Lost})).To(MatchError("1 cause behind 2 failed plans: 1 panic"), "a state is lost, too")
	g.Expect(exploration.Err([]results.Severity{results.Churn})).To(Succeed())
}

func TestAPanicWithoutASourceIsGrouped(t *testing.T) {
	g := NewWithT(t)
	causes := results.Causes([]results.Plan{failed("a", "panics", "no key: 12", nil), failed("b", "panics", "no key: 0x13f", nil)})
	g.Expect(causes).To(HaveLen(1))
	g.Expect(causes[0].Symptom).To(Equal("panic no key: …"))
	for message, want := range map[string]string{"key 7 is unknown: 12": "panic key … is unknown: …", "at 7 o'clock": "panic at … o'clock"} {
		g.Expect(results.Causes([]results.Plan{failed("a", "panics", message, nil)})[0].Symptom).To(Equal(want))
	}
}

func TestAPanicWithoutAFaultIsAHeadlineOfItsOwn(t *testing.T) {
	g := NewWithT(t)
	passed := results.Plan{Scenario: "web/create", Type: "crash-after", Triggered: true, Passed: true}
	e := results.Exploration{Panics: []results.PanicWithoutFault{{Scenario: "web/create", Message: atLine42}}, Plans: []results.Plan{passed}}
	const one = "1 panic without any fault"
	g.Expect(e.HasFailed()).To(BeTrue())
	g.Expect(e.Headline()).To(Equal(one))
	g.Expect(e.Err(results.FailsOn)).To(MatchError(one))
	g.Expect(e.Err([]results.Severity{results.Lost})).To(Succeed())
	g.Expect(e.FailureText()).To(Equal(one + "\n\n✗ panic    " + atLine42 + "\n  without a fault  in web/create\n\n"))

	e.Plans = append(e.Plans, failed("web/create", "counts", "created secrets web 2 times, not 1 as in the reference", nil))
	e.Panics = append(e.Panics, results.PanicWithoutFault{Scenario: "web/scale", Message: "boom"})
	g.Expect(e.FailureText()).To(And(ContainSubstring("in web/create\n"), ContainSubstring("✗ panic    boom\n  without a fault  in web/scale\n")))
	g.Expect(e.Headline()).To(Equal("2 panics without any fault, 1 cause behind 1 failed plan: 1 churn"))
	g.Expect(e.Err(results.FailsOn)).To(MatchError("2 panics without any fault"))
	g.Expect(e.Err([]results.Severity{results.Panic, results.Churn})).To(MatchError(e.Headline()))
	e.Panics = e.Panics[1:]
	g.Expect(e.Err([]results.Severity{results.Panic, results.Churn})).To(MatchError("1 panic without any fault, 1 cause behind 1 failed plan: 1 churn"))

	g.Expect(results.Exploration{Plans: []results.Plan{passed}}.Headline()).To(Equal("all 1 plans passed"))
	g.Expect(results.Exploration{Plans: []results.Plan{passed}}.HasFailed()).To(BeFalse())
	g.Expect(results.Exploration{Plans: []results.Plan{passed}}.FailureText()).To(BeEmpty())
	g.Expect(results.FailsOn).To(Equal([]results.Severity{results.Panic, results.Lost, results.HotLoop, results.Lied}))
	g.Expect(results.Exploration{}.Headline()).To(Equal("no plan was played"))
}

func TestPanicsOfShardsAreMerged(t *testing.T) {
	g := NewWithT(t)
	shard := func(index int, messages ...string) *results.Exploration {
		e := &results.Exploration{Shard: results.Shard{Index: index, Of: 2}}
		for _, message := range messages {
			e.Panics = append(e.Panics, results.PanicWithoutFault{Scenario: "web/create", Message: message})
		}
		return e
	}
	one := shard(1, "boom", "bang")
	whole, err := results.Merge([]*results.Exploration{one, shard(2, "bang", "crash")})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(whole.Panics).To(Equal([]results.PanicWithoutFault{{"web/create", "boom"}, {"web/create", "bang"}, {"web/create", "crash"}}))
	g.Expect(one.Panics).To(HaveLen(2), "it is left as it was")
}
