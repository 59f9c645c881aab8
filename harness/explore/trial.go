package explore

import (
	"slices"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/report/results"
)

// trial counts how often a failure comes again.
type trial struct {
	example Result
	cause   []int         // the plans that failed alike, as indices of all
	waited  time.Duration // how long a step could take
	stale   bool          // a run was not where the reference is from
	mu      sync.Mutex
	results.Confirmation
	// withoutFault is how runs without a fault differed from the reference.
	withoutFault []*difference
	// healed are the findings of runs in which the lost state was reached late.
	healed []Finding
}

// add counts a run. One whose fault did not trigger is one without a fault. One with only the first fault of a pair is neither.
func (t *trial) add(again Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	played, failed := &t.Played, &t.Failed
	switch {
	case again.stale:
		t.stale = true
		return
	case again.Triggered:
	case len(again.triggers) > 0:
		return
	default:
		played, failed = &t.PlayedWithoutFault, &t.FailedWithoutFault
		if again.difference != nil {
			t.withoutFault = append(t.withoutFault, again.difference)
		}
	}
	*played++
	if t.example.failsLike(again) {
		*failed++
	}
	late := slices.IndexFunc(again.Findings, isOf(Late))
	if again.Triggered && late >= 0 && t.example.has(isLoss) && !again.has(isLoss) {
		t.healed = append(t.healed, again.Findings[late])
	}
}

// note notes in all results what has come of the trial.
func (t *trial) note(all []Result) {
	if t.stale {
		return
	}
	for _, i := range t.cause {
		if all[i].trial == t {
			all[i].Confirmation = &t.Confirmation
		}
	}
	t.noteHealed(all)
}

// differedByChance tells whether a run without a fault differed by what is known as random now.
func (t *trial) differedByChance() bool {
	return slices.ContainsFunc(t.withoutFault, func(d *difference) bool { return !d.remains() })
}

// noteHealed has the plans of the cause that lost a state be late, if the example was each time that it was run again.
func (t *trial) noteHealed(all []Result) {
	if len(t.healed) == 0 || len(t.healed) < t.Played-1 {
		return
	}
	for _, i := range t.cause {
		if !all[i].has(isLoss) {
			continue // it was played again, and is right
		}
		findings := slices.DeleteFunc(slices.Clone(all[i].Findings), func(f Finding) bool { return isLoss(f) || isOf(Late)(f) })
		findings = append(findings, t.healed[0])
		all[i].Findings, all[i].difference = findings, nil
	}
	t.Failed = max(t.Failed, 1+len(t.healed))
}

// failsLike tells whether an oracle objects to both.
func (r Result) failsLike(other Result) bool {
	return r.has(func(finding Finding) bool { return other.has(isOf(finding.Oracle)) })
}

// has tells whether there is such a finding.
func (r Result) has(such func(Finding) bool) bool { return slices.ContainsFunc(r.Findings, such) }

func isOf(oracle string) func(Finding) bool {
	return func(finding Finding) bool { return finding.Oracle == oracle }
}

// isLoss tells whether a finding says that a state was never reached.
func isLoss(finding Finding) bool { return finding.Oracle == Converges || finding.Oracle == Reference }
