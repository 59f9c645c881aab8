package explore

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/report/results"
)

// with is a result whose fault triggered, with findings of these oracles.
func with(names ...string) Result {
	result := Result{Triggered: true, triggers: make([]fault.Trigger, 1)}
	for _, name := range names {
		result.Findings = append(result.Findings, Finding{Oracle: name, Message: name})
	}
	return result
}

func withoutFault(result Result) Result {
	result.Triggered, result.triggers = false, nil
	return result
}

func TestAFailureThatComesAgainIsCounted(t *testing.T) {
	for name, test := range map[string]struct {
		again   Result
		want    results.Confirmation
		differs bool
	}{
		"alike":                        {with(Counts, Reference), results.Confirmation{Played: 1, Failed: 1}, false},
		"otherwise":                    {with(Stable), results.Confirmation{Played: 1}, false},
		"not":                          {with(), results.Confirmation{Played: 1}, false},
		"without the fault":            {withoutFault(with(Reference)), results.Confirmation{PlayedWithoutFault: 1, FailedWithoutFault: 1}, false},
		"otherwise, without the fault": {withoutFault(with(Stable)), results.Confirmation{PlayedWithoutFault: 1}, false},
		"not without the fault":        {withoutFault(with()), results.Confirmation{PlayedWithoutFault: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			trial := &trial{example: with(Reference)}
			if test.differs {
				test.again.difference = &difference{}
			}
			trial.add(test.again)
			g.Expect(trial.Confirmation).To(Equal(test.want))
			g.Expect(trial.withoutFault).To(HaveLen(map[bool]int{true: 1}[test.differs]))
			g.Expect(trial.healed).To(BeEmpty())
		})
	}
}

func TestALossIsLateIfEachRunHealsIt(t *testing.T) {
	for name, test := range map[string]struct {
		example Result
		again   []Result
		late    bool
		failed  int
	}{
		"a wrong state, twice late":    {with(Reference, Counts), []Result{with(Late), with(Counts, Late)}, true, 3},
		"never reached, twice late":    {with(Late, Converges), []Result{with(Late), with(Late)}, true, 3},
		"once late":                    {with(Reference), []Result{with(Late), with(Reference)}, false, 2},
		"once right":                   {with(Reference), []Result{with(Late), with()}, false, 1},
		"late and lost":                {with(Reference), []Result{with(Late, Reference), with(Late, Reference)}, false, 3},
		"late without the fault":       {with(Reference), []Result{withoutFault(with(Late)), withoutFault(with(Late))}, false, 1},
		"what was no loss":             {with(Counts), []Result{with(Late), with(Late)}, false, 1},
		"not run again with the fault": {with(Reference), nil, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			healthy := with(Counts)
			all := []Result{healthy, test.example, with(Converges, Late), with(Converges)}
			for i := range all {
				all[i].difference = &difference{}
			}
			trial := &trial{example: test.example, cause: []int{0, 1, 2}}
			for _, result := range append([]Result{test.example}, test.again...) {
				trial.add(result)
			}
			trial.noteHealed(all)
			g.Expect(trial.Failed).To(Equal(test.failed))
			g.Expect(all[0].Findings).To(Equal(healthy.Findings), "it lost nothing")
			g.Expect(all[3].has(isLoss)).To(BeTrue(), "it has another cause")
			if !test.late {
				g.Expect(all[1].Findings).To(Equal(test.example.Findings))
				return
			}
			late := Finding{Oracle: Late, Message: Late}
			for _, i := range []int{1, 2} {
				g.Expect(all[i].has(isLoss)).To(BeFalse())
				g.Expect(all[i].Findings[len(all[i].Findings)-1]).To(Equal(late))
				g.Expect(all[i].Findings[:len(all[i].Findings)-1]).NotTo(ContainElement(late), "once")
				g.Expect(all[i].difference).To(BeNil())
			}
		})
	}
}

func TestOnePlanOfACauseIsRunAgainUntilOneFailsAlike(t *testing.T) {
	again, never, anyway := &results.Confirmation{Played: 3, Failed: 2}, &results.Confirmation{Played: 3, Failed: 1}, &results.Confirmation{Played: 3, Failed: 1, FailedWithoutFault: 1}
	for name, test := range map[string]struct {
		confirmed []*results.Confirmation // of the plans of a cause
		next      int                     // -1 for none
	}{
		"none yet":                   {[]*results.Confirmation{nil, nil}, 0},
		"the first has not":          {[]*results.Confirmation{never, nil, nil}, 1},
		"two have not":               {[]*results.Confirmation{never, never, nil}, 2},
		"three have not":             {[]*results.Confirmation{never, never, never, nil}, -1},
		"one has":                    {[]*results.Confirmation{again, nil}, -1},
		"one has after one has not":  {[]*results.Confirmation{again, never, nil}, -1},
		"one has without the fault":  {[]*results.Confirmation{anyway, nil}, -1},
		"one that has, and one not":  {[]*results.Confirmation{anyway, never, nil}, -1},
		"all have been played again": {[]*results.Confirmation{never}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var all []Result
			for _, confirmation := range test.confirmed {
				result := with(Counts)
				result.Confirmation = confirmation
				all = append(all, result)
			}
			other := with(Stable)
			all = append(all, other, with())
			trials := unconfirmed(all)
			i := slices.IndexFunc(trials, func(trial *trial) bool { return trial.example.failsLike(other) })
			g.Expect(trials[i].cause).To(Equal([]int{len(all) - 2}), "another cause is run again in any case")
			g.Expect(all[len(all)-2].trial).To(BeIdenticalTo(trials[i]))
			g.Expect(all[len(all)-1].trial).To(BeNil(), "it passed")
			var began []int
			for i := range test.confirmed {
				if all[i].trial != nil {
					began = append(began, i)
				}
			}
			if test.next < 0 {
				g.Expect(began).To(BeEmpty())
				g.Expect(trials).To(HaveLen(1))
			} else {
				g.Expect(began).To(Equal([]int{test.next}))
				g.Expect(trials).To(HaveLen(2))
			}
		})
	}
}

func TestADifferenceRemainsUnlessItIsRandom(t *testing.T) {
	g := NewWithT(t)
	want := &expected{state: oracle.Snapshot{"Web/a": `{"l":[1,2]}`}}
	d := &difference{want, oracle.Snapshot{"Web/a": `{"l":[2,1]}`}}
	g.Expect(d.remains()).To(BeTrue())
	want.Learn(want.state, d.state)
	g.Expect(d.remains()).To(BeFalse())
}

func TestWhatIsRandomWhenConfirmingIsRandomInAllScenarios(t *testing.T) {
	g := NewWithT(t)
	var told strings.Builder
	e := learnt(1, "a", "b")
	e.Progress, e.varying = &told, sets.Set[string]{}
	a, b := e.references["a"].final, e.references["b"].final
	one, two := oracle.Snapshot{"Web/x": `{"l":[1,2]}`, "Web/y": `{"l":[1,2]}`}, oracle.Snapshot{"Web/x": `{"l":[2,1]}`, "Web/y": `{"l":[2,1]}`}
	a.state, b.state = one, one
	differences := []*difference{{a, oracle.Snapshot{"Web/x": two["Web/x"], "Web/y": one["Web/y"]}}, {b, oracle.Snapshot{"Web/x": one["Web/x"], "Web/y": two["Web/y"]}}}
	g.Expect(e.learnRandom(differences)).To(BeTrue())
	g.Expect(told.String()).To(ContainSubstring("when confirming: differs from run to run without any fault: the order of Web/x l, the order of Web/y l"))
	for _, state := range []*expected{a, b} {
		g.Expect(state.Diff(state.state, two)).To(BeEmpty())
	}
	g.Expect(e.learnRandom(differences)).To(BeFalse(), "it is known")
	g.Expect(e.learnRandom([]*difference{{a, oracle.Snapshot{"Web/x": `{"l":[1,2],"random":1}`, "Web/y": one["Web/y"]}}})).To(BeTrue())
	g.Expect(e.mu.TryLock()).To(BeTrue(), "nobody holds it")
}
