package explore

import (
	"slices"
	"sync"

	"github.com/operator-assay/assay/harness/verdict"
)

// trial reruns a failed plan with and without its fault.
type trial struct {
	mu           sync.Mutex
	verdict      verdict.Trial
	example      Result
	cause        []int                // indices of the plans with the same cause
	withoutFault []*verdict.Deviation // differences between the fault-free runs and the reference
}

// add counts a run. A run in which no fault was triggered counts as fault-free. A run in which only the first fault of
// a pair was triggered is ignored.
func (t *trial) add(again Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case again.Triggered:
		t.verdict.AddWithFault(again.Findings)
	case len(again.triggers) == 0:
		t.verdict.AddWithoutFault(again.Findings)
		if again.difference != nil {
			t.withoutFault = append(t.withoutFault, again.difference)
		}
	}
}

// note updates the results with the outcome of the trial. If every rerun with the fault was late but reached all
// expected states, note adds a Late finding and removes the findings about states that were not reached.
func (t *trial) note(all []Result) {
	for _, i := range t.cause {
		r := &all[i]
		if t.verdict.IsHealed() && slices.ContainsFunc(r.Findings, verdict.Finding.IsLoss) {
			r.Findings, r.difference = t.verdict.Heal(r.Findings), nil
		}
		if r.trial == t {
			r.Confirmation = &t.verdict.Confirmation
		}
	}
}
