package explore

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/verdict"
)

// resultWith returns the result of a run in which the fault was triggered. It contains one finding for each given
// oracle.
func resultWith(names ...verdict.Oracle) Result {
	result := Result{Outcome: results.Outcome{Triggered: true}, triggers: make([]fault.Trigger, 1)}
	for _, name := range names {
		result.Findings = append(result.Findings, verdict.Finding{Oracle: name, Message: string(name)})
	}
	return result
}

func withoutFault(result Result) Result {
	result.Triggered, result.triggers = false, nil
	return result
}

func TestTrialCountsRuns(t *testing.T) {
	g := NewWithT(t)
	trial := &trial{verdict: verdict.Trial{Example: resultWith(verdict.Reference).Findings}}
	trial.add(resultWith(verdict.Reference))
	different := withoutFault(resultWith(verdict.Late))
	different.difference = &verdict.Deviation{}
	trial.add(different)
	trial.add(withoutFault(resultWith(verdict.Reference)))
	g.Expect(trial.verdict.Confirmation).To(Equal(verdict.Confirmation{Played: 1, Failed: 1, PlayedWithoutFault: 2, FailedWithoutFault: 1}))
	g.Expect(trial.withoutFault).To(HaveLen(1))
	g.Expect(trial.verdict.IsHealed()).To(BeFalse(), "only a run without the fault was late")
}

func TestOnlyReferenceStateIsAwaited(t *testing.T) {
	for name, want := range map[verdict.Oracle]bool{verdict.Reference: true, verdict.Agreement: false} {
		result := resultWith(name)
		result.difference = &verdict.Deviation{}
		if got := result.awaited() != nil; got != want {
			t.Errorf("%s: got awaited %v, want %v", name, got, want)
		}
	}
}

func TestAllScenariosLearnFromConfirmation(t *testing.T) {
	g := NewWithT(t)
	var output strings.Builder
	e := learnedExplorer(1, "a", "b")
	e.Options.Progress = &output
	a, b := e.learner.references["a"].final(), e.learner.references["b"].final()
	one, two := oracle.Snapshot{"Web/x": `{"l":[1,2]}`, "Web/y": `{"l":[1,2]}`}, oracle.Snapshot{"Web/x": `{"l":[2,1]}`, "Web/y": `{"l":[2,1]}`}
	a.State, b.State = one, one
	differences := []*verdict.Deviation{{Expected: a, State: oracle.Snapshot{"Web/x": two["Web/x"], "Web/y": one["Web/y"]}}, {Expected: b, State: oracle.Snapshot{"Web/x": one["Web/x"], "Web/y": two["Web/y"]}}}
	g.Expect(e.learner.learnVarying(differences)).To(BeTrue())
	g.Expect(output.String()).To(ContainSubstring("confirm: not compared, because it varies between fault-free runs: the order of Web/x l, the order of Web/y l"))
	for _, state := range []*verdict.Expected{a, b} {
		g.Expect(state.Differences(state.State, two)).To(BeEmpty())
	}
	g.Expect(e.learner.learnVarying(differences)).To(BeFalse(), "the order is already known to vary")
	g.Expect(e.learner.mu.TryLock()).To(BeTrue(), "the lock is released")
}

func TestPlanThatNowPassesIsNotLate(t *testing.T) {
	g := NewWithT(t)
	healed := trial{cause: []int{0, 1}, verdict: verdict.Trial{Example: resultWith(verdict.Reference).Findings}}
	healed.add(resultWith(verdict.Reference))
	healed.add(resultWith(verdict.Late))
	all := []Result{resultWith(verdict.Reference), {}}
	healed.note(all)
	g.Expect(all[0].Findings).To(Equal(resultWith(verdict.Late).Findings))
	g.Expect(all[1].Passed()).To(BeTrue())
}
