package explore

import (
	"slices"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/verdict"
)

// trial runs a failed plan again, and its scenario without a fault.
type trial struct {
	mu      sync.Mutex
	verdict verdict.Trial
	example Result
	cause   []int         // the plans with the same cause, as indices of all results
	waited  time.Duration // how long a step could take
	stale   bool          // a run was not where the reference is from
	// withoutFault is how runs without a fault differed from the reference.
	withoutFault []*difference
}

// add counts a run. A run whose fault did not trigger is one without a fault. A run with only the first fault of a pair is neither.
func (t *trial) add(again Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case again.stale:
		t.stale = true
	case again.Triggered:
		t.verdict.AddWithFault(again.Findings)
	case len(again.triggers) == 0:
		t.verdict.AddWithoutFault(again.Findings)
		if again.difference != nil {
			t.withoutFault = append(t.withoutFault, again.difference)
		}
	}
}

// note notes in all results what has come of the trial. If the lost state was reached each time when the operator had more time, the
// plans of the cause are late.
func (t *trial) note(all []Result) {
	if t.stale {
		return
	}
	for _, i := range t.cause {
		r := &all[i]
		if t.verdict.IsHealed() && r.has(verdict.Finding.IsLoss) {
			r.Findings, r.difference = t.verdict.Heal(r.Findings), nil
		}
		if r.trial == t {
			r.Confirmation = &t.verdict.Confirmation
		}
	}
}

// differedByChance reports whether a run without a fault differed by what is known as random now.
func (t *trial) differedByChance() bool {
	return slices.ContainsFunc(t.withoutFault, func(d *difference) bool { return !d.remains() })
}

// failsLike reports whether an oracle objects to both.
func (r Result) failsLike(other Result) bool { return verdict.Alike(r.Findings, other.Findings) }

// has reports whether there is such a finding.
func (r Result) has(such func(verdict.Finding) bool) bool {
	return slices.ContainsFunc(r.Findings, such)
}
