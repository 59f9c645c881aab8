package explore

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/test/harness/faults"
	"github.com/operator-assay/assay/test/harness/scenario"
)

// learnt is an explorer that has learnt of two scenarios what there is to befall.
func learnt(seed uint64, scenarios ...string) *Explorer {
	e := &Explorer{Options: Options{Seed: seed}, references: map[string]*reference{}}
	for _, name := range scenarios {
		e.Scenarios = append(e.Scenarios, scenario.Scenario{Name: name})
		ref := &reference{actions: 3, watches: []string{"configmaps", "secrets"}}
		for nth := range 20 {
			ref.writes = append(ref.writes, faults.Write{Point: faults.Point{Verb: "apply", Target: "secrets", Name: "web", Nth: nth + 1}})
			ref.reads = append(ref.reads, faults.Point{Verb: "get", Target: "configmaps", Name: "web", Nth: nth + 1})
		}
		e.references[name] = ref
	}
	return e
}

func plansOf(e *Explorer, families ...Family) []string {
	var plans []string
	for _, family := range families {
		for _, plan := range e.plans(family) {
			plans = append(plans, plan.String())
		}
	}
	return plans
}

func TestTheSeedDecidesOfThePlans(t *testing.T) {
	g := NewWithT(t)
	all := plansOf(learnt(1, "a", "b"), Families...)
	g.Expect(plansOf(learnt(1, "a", "b"), Families...)).To(Equal(all))
	g.Expect(slices.Compact(slices.Sorted(slices.Values(all)))).To(HaveLen(len(all)), "none twice")
	g.Expect(plansOf(learnt(2, "a", "b"), Refusals)).NotTo(Equal(plansOf(learnt(1, "a", "b"), Refusals)))
	g.Expect(plansOf(learnt(2, "a", "b"), Views)).NotTo(Equal(plansOf(learnt(1, "a", "b"), Views)))
	for _, whole := range []Family{Crashes, Leaders, Slowness} {
		g.Expect(plansOf(learnt(2, "a", "b"), whole)).To(Equal(plansOf(learnt(1, "a", "b"), whole)))
	}

	ofA := slices.DeleteFunc(slices.Clone(all), func(plan string) bool { return !strings.HasPrefix(plan, "a ") })
	g.Expect(plansOf(learnt(1, "a"), Families...)).To(Equal(ofA), "another scenario changes nothing")
	g.Expect(plansOf(learnt(1, "a", "b"), Views)).To(Equal(slices.DeleteFunc(all, func(plan string) bool { return !strings.Contains(plan, " watch ") })),
		"nor does another family")
}

func TestWhatIsPlayed(t *testing.T) {
	g := NewWithT(t)
	count := func(family Family) int { return len(learnt(1, "a").plans(family)) }
	g.Expect(count(Crashes)).To(Equal(3 * 20))
	g.Expect(count(Leaders)).To(Equal(20))
	g.Expect(count(Refusals)).To(Equal(9))
	g.Expect(count(Views)).To(Equal(3 * 2))
	g.Expect(count(Slowness)).To(Equal(2))
	for seed := range uint64(20) {
		for _, plan := range learnt(seed, "a").plans(Refusals) {
			if plan.Fault.Kind == faults.Refuse409 || plan.Fault.Kind == faults.Storm409 {
				g.Expect(plan.Fault.At.Verb).To(Equal("apply"), "reads do not conflict")
			}
		}
		for _, plan := range learnt(seed, "a").plans(Views) {
			g.Expect(plan.Fault.At.Nth).To(And(BeNumerically(">=", 1), BeNumerically("<=", 3)), "one of the actions")
		}
	}
}

func TestAPlanIsReadAsItWasWritten(t *testing.T) {
	g := NewWithT(t)
	e := learnt(1, "a", "b")
	for _, family := range Families {
		for _, plan := range e.plans(family) {
			g.Expect(Parse(" "+plan.String()+"\n", e.Scenarios)).To(Equal(plan))
		}
	}
	for text, complaint := range map[string]string{
		"":                           `plan "": there is no scenario ""`,
		"c slow-reads":               `plan "c slow-reads": there is no scenario "c"`,
		"a":                          `plan "a": "" is no fault: want one of`,
		"a explode":                  `plan "a explode": "explode" is no fault: want one of`,
		"a reset get configmaps web": `plan "a reset get configmaps web": fault "reset get configmaps web": want the verb,`,
	} {
		_, err := Parse(text, e.Scenarios)
		g.Expect(err).To(MatchError(HavePrefix(complaint)))
		g.Expect(err.Error()).NotTo(ContainSubstring("\n"))
	}
}
