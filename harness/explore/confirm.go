package explore

import (
	"context"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/verdict"
)

// Confirm reruns one failed plan per cause, both with and without its fault, and records how often the same failure
// occurred. A failure that is intermittent or also occurs without the fault does not count against the fault. The
// same is true of a final state that a longer run without the fault also reaches.
//
// If the reruns find more fields that vary without any fault, these fields are no longer compared, and the plans that
// failed only because of them are replayed. A plan that reaches the expected state when it is given more time is
// reported as late. If ctx is canceled, Confirm returns its cause.
func (e *Explorer) Confirm(ctx context.Context, all []Result) error {
	e.confirmAnew(all)
	for {
		trials := unconfirmed(all)
		if len(trials) == 0 {
			return nil
		}
		progress := newProgress(e.Log("confirm"), "runs")
		progress.log.Printf("plans that are run %d times more, and their scenarios without a fault: %d; up to %s for a lost state",
			confirmations, len(trials), e.confirming().limit(e.Options.StepTimeout).Round(time.Second))
		learnt := e.confirm(ctx, trials, e.slots, progress)
		progress.end()
		if learnt {
			e.playWhatDiffersNoMore(ctx, all, e.confirming())
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, trial := range trials {
			trial.note(all)
		}
	}
}

// confirmAnew resets confirmations that are no longer valid. These are lost states for which the trial waited less
// than the resync period known now, and trials whose runs without a fault differ only in what is now known to vary.
func (e *Explorer) confirmAnew(all []Result) {
	limit := e.confirming().limit(e.Options.StepTimeout)
	for i := range all {
		if t := all[i].trial; t != nil && (all[i].has(verdict.Finding.IsLoss) && t.waited < limit || t.differedByChance()) {
			all[i].Confirmation, all[i].trial = nil, nil
		}
	}
}

// unconfirmed creates the next trials. It picks one plan for each cause that has no confirmed plan and no running
// trial.
func unconfirmed(all []Result) []*trial {
	var trials []*trial
	for _, group := range verdict.Groups(failuresOf(all)) {
		i, is := group.Next(func(i int) (*verdict.Confirmation, bool) { return all[i].Confirmation, all[i].trial != nil })
		if is {
			t := &trial{example: all[i], cause: group.Plans, verdict: verdict.Trial{Example: all[i].Findings}}
			all[i].trial = t
			trials = append(trials, t)
		}
	}
	return trials
}

// failuresOf converts the failed results to the input of verdict.Groups.
func failuresOf(all []Result) []verdict.Failure {
	var failures []verdict.Failure
	for i, r := range all {
		if !r.Passed() {
			failures = append(failures, verdict.Failure{Index: i, Findings: r.Findings, Confirmation: r.Confirmation, Triggered: r.Triggered, IsPair: r.isPair(), Effort: r.Run.Effort()})
		}
	}
	return failures
}

// confirm runs the trials and waits for them. Every run takes a slot. It reports whether the runs without a fault
// have revealed more nondeterminism.
func (e *Explorer) confirm(ctx context.Context, trials []*trial, slots chan struct{}, progress *progress) (learnt bool) {
	confirming := e.confirming()
	confirming.slots = slots
	progress.expect(2 * confirmations * len(trials))
	var running sync.WaitGroup
	for _, trial := range trials {
		trial.waited = confirming.limit(e.Options.StepTimeout)
		trial.add(trial.example)
		for nth := range confirmations {
			for _, plan := range []Plan{trial.example.Plan, {Scenario: trial.example.Scenario}} {
				how := confirming
				if plan.Fault.Type == fault.None && nth == 0 { // only once, because this run takes as long as the failed one
					how.awaited = trial.example.difference
				}
				slots <- struct{}{}
				running.Go(func() {
					defer func() { <-slots }()
					if ctx.Err() == nil {
						trial.add(e.judge(ctx, plan, how))
						progress.addRun()
					}
				})
			}
		}
	}
	running.Wait()
	var differences []*difference
	for _, trial := range trials {
		differences = append(differences, trial.withoutFault...)
	}
	return ctx.Err() == nil && e.learnRandom(differences)
}

// confirmingSlots returns the slots for confirmation runs during an exploration. They are separate from the slots for
// plans, because a confirmation would otherwise queue behind all remaining plans. If only one run is allowed at a
// time, the slot is shared.
func (e *Explorer) confirmingSlots() chan struct{} {
	if cap(e.slots) == 1 {
		return e.slots
	}
	return make(chan struct{}, max(1, cap(e.slots)/3))
}

// learnRandom learns nondeterminism from the differences between runs without a fault. It reports whether it has
// learned anything.
func (e *Explorer) learnRandom(differences []*difference) bool {
	var known oracle.Nondeterminism
	var news []string
	for _, d := range differences {
		var found oracle.Nondeterminism
		found.Learn(d.expected.Normalize(d.expected.state), d.expected.Normalize(d.state))
		news = append(news, known.Adopt(&found)...)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.share(&known)
	e.noteRandom("when confirming", news)
	return len(news) > 0
}

// playWhatDiffersNoMore replays the plans whose states differ from the reference only in what is now known to vary.
func (e *Explorer) playWhatDiffersNoMore(ctx context.Context, all []Result, how conditions) {
	var indices []int
	var plans []Plan
	for i, result := range all {
		if result.difference != nil && !result.difference.remains() {
			indices, plans = append(indices, i), append(plans, result.Plan)
		}
	}
	for _, again := range e.playAll(ctx, plans, how) {
		for _, i := range indices {
			if ctx.Err() == nil && all[i].Plan == again.Plan {
				all[i] = again
			}
		}
	}
}
