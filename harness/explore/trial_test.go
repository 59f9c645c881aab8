package explore

import (
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/verdict"
)

// with returns a result whose fault was injected, with one finding per oracle.
func with(names ...verdict.Oracle) Result {
	result := Result{Triggered: true, injected: injection{triggers: make([]fault.Trigger, 1)}}
	for _, name := range names {
		result.Findings = append(result.Findings, verdict.Finding{Oracle: name, Message: string(name)})
	}
	return result
}

func withoutFault(result Result) Result {
	result.Triggered, result.injected.triggers = false, nil
	return result
}

func TestRepeatedFailureIsCounted(t *testing.T) {
	for name, test := range map[string]struct {
		again   Result
		want    verdict.Confirmation
		differs bool
	}{
		"alike":                               {with(verdict.Counts, verdict.Reference), verdict.Confirmation{Played: 1, Failed: 1}, false},
		"otherwise":                           {with(verdict.Stable), verdict.Confirmation{Played: 1}, false},
		"not":                                 {with(), verdict.Confirmation{Played: 1}, false},
		"fails without the fault":             {withoutFault(with(verdict.Reference)), verdict.Confirmation{PlayedWithoutFault: 1, FailedWithoutFault: 1}, false},
		"different failure without the fault": {withoutFault(with(verdict.Stable)), verdict.Confirmation{PlayedWithoutFault: 1}, false},
		"passes without the fault":            {withoutFault(with()), verdict.Confirmation{PlayedWithoutFault: 1}, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			trial := &trial{verdict: verdict.Trial{Example: with(verdict.Reference).Findings}}
			if test.differs {
				test.again.difference = &verdict.Deviation{}
			}
			trial.add(test.again)
			g.Expect(trial.verdict.Confirmation).To(Equal(test.want))
			g.Expect(trial.withoutFault).To(HaveLen(map[bool]int{true: 1}[test.differs]))
			g.Expect(trial.verdict.IsHealed()).To(BeFalse())
		})
	}
}

func TestOnlyStateOfReferenceIsAwaited(t *testing.T) {
	for name, want := range map[verdict.Oracle]bool{verdict.Reference: true, verdict.Agreement: false} {
		result := with(name)
		result.difference = &verdict.Deviation{}
		if got := result.awaited() != nil; got != want {
			t.Errorf("%s: got awaited %v, want %v", name, got, want)
		}
	}
}

func TestLossIsLateIfEveryRunRecovers(t *testing.T) {
	for name, test := range map[string]struct {
		example Result
		again   []Result
		late    bool
		failed  int
	}{
		"wrong state, twice late":   {with(verdict.Reference, verdict.Counts), []Result{with(verdict.Late), with(verdict.Counts, verdict.Late)}, true, 3},
		"not converged, twice late": {with(verdict.Late, verdict.Converges), []Result{with(verdict.Late), with(verdict.Late)}, true, 3},
		"late once":                 {with(verdict.Reference), []Result{with(verdict.Late), with(verdict.Reference)}, false, 2},
		"late once, passed once":    {with(verdict.Reference), []Result{with(verdict.Late), with()}, false, 1},
		"late and wrong":            {with(verdict.Reference), []Result{with(verdict.Late, verdict.Reference), with(verdict.Late, verdict.Reference)}, false, 3},
		"late without the fault":    {with(verdict.Reference), []Result{withoutFault(with(verdict.Late)), withoutFault(with(verdict.Late))}, false, 1},
		"failure other than a loss": {with(verdict.Counts), []Result{with(verdict.Late), with(verdict.Late)}, false, 1},
		"no rerun with the fault":   {with(verdict.Reference), nil, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			healthy := with(verdict.Counts)
			all := []Result{healthy, test.example, with(verdict.Converges, verdict.Late), with(verdict.Converges)}
			for i := range all {
				all[i].difference = &verdict.Deviation{}
			}
			trial := &trial{verdict: verdict.Trial{Example: test.example.Findings}, cause: []int{0, 1, 2}}
			for _, result := range append([]Result{test.example}, test.again...) {
				trial.add(result)
			}
			trial.note(all)
			g.Expect(trial.verdict.Failed).To(Equal(test.failed))
			g.Expect(all[0].Findings).To(Equal(healthy.Findings), "the failure is not a loss")
			g.Expect(all[3].has(verdict.Finding.IsLoss)).To(BeTrue(), "a different cause is not changed")
			if !test.late {
				g.Expect(all[1].Findings).To(Equal(test.example.Findings))
				return
			}
			late := verdict.Finding{Oracle: verdict.Late, Message: string(verdict.Late)}
			for _, i := range []int{1, 2} {
				g.Expect(all[i].has(verdict.Finding.IsLoss)).To(BeFalse())
				g.Expect(all[i].Findings[len(all[i].Findings)-1]).To(Equal(late))
				g.Expect(all[i].Findings[:len(all[i].Findings)-1]).NotTo(ContainElement(late), "once")
				g.Expect(all[i].difference).To(BeNil())
			}
		})
	}
}

func TestCauseIsConfirmedUntilPlanFailsAlike(t *testing.T) {
	again, never, anyway := &verdict.Confirmation{Played: 3, Failed: 2}, &verdict.Confirmation{Played: 3, Failed: 1}, &verdict.Confirmation{Played: 3, Failed: 1, FailedWithoutFault: 1}
	for name, test := range map[string]struct {
		confirmed []*verdict.Confirmation // confirmations of the plans with the same cause
		next      int                     // -1 if no plan should be confirmed
	}{
		"no confirmation":                {[]*verdict.Confirmation{nil, nil}, 0},
		"first did not recur":            {[]*verdict.Confirmation{never, nil, nil}, 1},
		"two did not recur":              {[]*verdict.Confirmation{never, never, nil}, 2},
		"three did not recur":            {[]*verdict.Confirmation{never, never, never, nil}, -1},
		"one has":                        {[]*verdict.Confirmation{again, nil}, -1},
		"second recurred":                {[]*verdict.Confirmation{again, never, nil}, -1},
		"failed without the fault":       {[]*verdict.Confirmation{anyway, nil}, -1},
		"first failed without the fault": {[]*verdict.Confirmation{anyway, never, nil}, -1},
		"no plans left":                  {[]*verdict.Confirmation{never}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var all []Result
			for _, confirmation := range test.confirmed {
				result := with(verdict.Counts)
				result.Confirmation = confirmation
				all = append(all, result)
			}
			other := with(verdict.Stable)
			all = append(all, other, with())
			trials := unconfirmed(all)
			i := slices.IndexFunc(trials, func(trial *trial) bool { return trial.example.failsLike(other) })
			g.Expect(trials[i].cause).To(Equal([]int{len(all) - 2}), "the other cause has its own trial")
			g.Expect(all[len(all)-2].trial).To(BeIdenticalTo(trials[i]))
			g.Expect(all[len(all)-1].trial).To(BeNil(), "the plan passed")
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

func TestOnlyRandomDifferenceIsDropped(t *testing.T) {
	g := NewWithT(t)
	want := &verdict.Expected{State: oracle.Snapshot{"Web/a": `{"l":[1,2]}`}}
	d := &verdict.Deviation{Expected: want, State: oracle.Snapshot{"Web/a": `{"l":[2,1]}`}}
	g.Expect(d.Remains()).To(BeTrue())
	want.Learn(want.State, d.State)
	g.Expect(d.Remains()).To(BeFalse())
}

func TestConfirmationTeachesAllScenarios(t *testing.T) {
	g := NewWithT(t)
	var output strings.Builder
	e := learnedExplorer(1, "a", "b")
	e.Options.Progress = &output
	a, b := e.learner.references["a"].final, e.learner.references["b"].final
	one, two := oracle.Snapshot{"Web/x": `{"l":[1,2]}`, "Web/y": `{"l":[1,2]}`}, oracle.Snapshot{"Web/x": `{"l":[2,1]}`, "Web/y": `{"l":[2,1]}`}
	a.State, b.State = one, one
	differences := []*verdict.Deviation{{Expected: a, State: oracle.Snapshot{"Web/x": two["Web/x"], "Web/y": one["Web/y"]}}, {Expected: b, State: oracle.Snapshot{"Web/x": one["Web/x"], "Web/y": two["Web/y"]}}}
	g.Expect(e.learner.learnVarying(differences)).To(BeTrue())
	g.Expect(output.String()).To(ContainSubstring("when confirming: varies between runs without any fault: the order of Web/x l, the order of Web/y l"))
	for _, state := range []*verdict.Expected{a, b} {
		g.Expect(state.Differences(state.State, two)).To(BeEmpty())
	}
	g.Expect(e.learner.learnVarying(differences)).To(BeFalse(), "the order is already known to vary")
	g.Expect(e.learner.learnVarying([]*verdict.Deviation{{Expected: a, State: oracle.Snapshot{"Web/x": `{"l":[1,2],"random":1}`, "Web/y": one["Web/y"]}}})).To(BeTrue())
	g.Expect(e.learner.mu.TryLock()).To(BeTrue(), "the lock is released")
}

func TestPlanThatNowPassesIsNotLate(t *testing.T) {
	g := NewWithT(t)
	healed := trial{cause: []int{0, 1}, verdict: verdict.Trial{Example: with(verdict.Reference).Findings}}
	healed.add(with(verdict.Reference))
	healed.add(with(verdict.Late))
	all := []Result{with(verdict.Reference), {}}
	healed.note(all)
	g.Expect(all[0].Findings).To(Equal(with(verdict.Late).Findings))
	g.Expect(all[1].Passed()).To(BeTrue())
}
