package verdict

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/oracle"
)

func TestCompare(t *testing.T) {
	g := NewWithT(t)
	one, two := oracle.Snapshot{"Web/a": `{"v":1}`}, oracle.Snapshot{"Web/a": `{"v":2}`}
	expected := &Expected{State: two}
	g.Expect(expected.Compare("what", two)).To(Succeed())
	g.Expect(expected.Compare("what", one)).To(MatchError(And(HavePrefix("what:\n--- want Web/a"), ContainSubstring("-v: 2\n+v: 1"))))
	g.Expect((*Expected)(nil).Compare("what", one)).To(Succeed(), "the reference is being learned")
}

func TestOccursIn(t *testing.T) {
	g := NewWithT(t)
	expected := &Expected{State: oracle.Snapshot{"A/1": `{"a":1}`, "A/2": `{"a":1}`, "A/3": `{"a":1}`}}
	d := &Deviation{expected, oracle.Snapshot{"A/1": `{"a":2}`, "A/3": `{"a":1}`}}
	for text, state := range map[string]oracle.Snapshot{
		"all objects":              {"A/1": `{"a":2}`, "A/3": `{"a":1}`},
		"an additional difference": {"A/1": `{"a":2}`, "A/3": `{"a":7}`},
	} {
		g.Expect(d.OccursIn(state)).To(BeTrue(), text)
	}
	for text, state := range map[string]oracle.Snapshot{
		"nothing":           expected.State,
		"the first object":  {"A/1": `{"a":2}`, "A/2": `{"a":1}`, "A/3": `{"a":1}`},
		"the second object": {"A/1": `{"a":1}`, "A/3": `{"a":1}`},
		"another value":     {"A/1": `{"a":3}`, "A/3": `{"a":1}`},
	} {
		for range 20 { // objects are compared in random order
			g.Expect(d.OccursIn(state)).To(BeFalse(), text)
		}
	}
	g.Expect((&Deviation{expected, expected.State}).OccursIn(expected.State)).To(BeFalse(), "no object differs")
}

func TestNondeterminismIsSharedAndLearned(t *testing.T) {
	g := NewWithT(t)
	one, two := oracle.Snapshot{"Web/x": `{"l":[1,2]}`, "Web/y": `{"l":[1,2]}`}, oracle.Snapshot{"Web/x": `{"l":[2,1]}`, "Web/y": `{"l":[2,1]}`}
	a, b := &Expected{State: one}, &Expected{State: one}
	deviations := []*Deviation{{a, oracle.Snapshot{"Web/x": two["Web/x"], "Web/y": one["Web/y"]}}, {b, oracle.Snapshot{"Web/x": one["Web/x"], "Web/y": two["Web/y"]}}}
	g.Expect(deviations[0].Remains()).To(BeTrue())
	known, news := LearnFrom(deviations)
	g.Expect(news).NotTo(BeEmpty())
	Share([]*Expected{a, b}, known)
	for _, state := range []*Expected{a, b} {
		g.Expect(state.Differences(state.State, two)).To(BeEmpty())
	}
	g.Expect(deviations[0].Remains()).To(BeFalse())
	_, news = LearnFrom(deviations)
	g.Expect(news).To(BeEmpty(), "the nondeterminism is already known")

	learned, other := &Expected{State: one}, &Expected{State: one}
	learned.Learn(one, two)
	Share([]*Expected{learned, other}, &oracle.Nondeterminism{})
	g.Expect(other.Differences(other.State, two)).To(BeEmpty(), "what was learned for one state applies to all states")
}

func TestDisagreementIsAFinding(t *testing.T) {
	g := NewWithT(t)
	state := func(one, two string) oracle.Snapshot {
		return oracle.Snapshot{"Secret/a": `{"data":{"password":"` + one + `"}}`, "ConfigMap/b": `{"data":{"file":"pw=` + two + `"}}`}
	}
	states := []oracle.Snapshot{state("kX3vPq9L", "kX3vPq9L"), state("aB7dWz5R", "aB7dWz5R"), state("gH4jSe6F", "gH4jSe6F")}
	expected := &Expected{State: states[0]}
	for _, other := range states {
		expected.Learn(states[0], other)
	}
	g.Expect(expected.Compare("what", state("first-one", "second-one"))).To(Succeed(), "no agreements are known yet")
	expected.Agreements = expected.Nondeterminism.Agreements(states...)
	g.Expect(expected.Compare("what", state("first-one", "first-one"))).To(Succeed())
	differing := state("first-one", "second-one")
	found := expected.Compare("what", differing)
	g.Expect(found).To(MatchError("what:\nSecret/a data.password and ConfigMap/b data.file do not contain the same value, although they do in every fault-free run\n"))
	var finding Finding
	g.Expect(errors.As(found, &finding)).To(BeTrue())
	g.Expect(finding.Cause()).To(Equal(Cause{Agreement, "", "Secret a, ConfigMap b with different values", "data.password, data.file"}))
	g.Expect((&Deviation{expected, differing}).Remains()).To(BeTrue())
	same := oracle.Agreement{Value: oracle.Field{Object: "Secret/a", Path: "data.password"}, Others: []oracle.Field{{Object: "Secret/b", Path: "data.password"}}}
	g.Expect(FromDisagreements("what", []oracle.Agreement{same}).Detail).To(Equal("data.password"))
}
