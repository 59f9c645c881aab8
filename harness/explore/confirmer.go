package explore

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/verdict"
)

// confirmer reruns failed plans with and without their faults.
type confirmer struct {
	e         *Explorer
	watchLife time.Duration
}

// Confirm reruns one failed plan per cause, both with and without its fault, and records how often the same failure
// occurred. If the failure is not reproduced, Confirm tries other plans with the same cause. One of the fault-free runs
// waits longer, because the same difference may appear without the fault after some time.
//
// If the reruns reveal more fields that vary between fault-free runs, these fields are no longer compared, and the
// plans that failed only because of them are rerun. A plan is reported as late if its reruns reach the expected state
// within an extended timeout. If ctx is canceled, Confirm returns its cause.
func (e *Explorer) Confirm(ctx context.Context, all []Result) error {
	c := e.confirmer
	reset(all)
	for {
		trials := unconfirmed(all)
		if len(trials) == 0 {
			return nil
		}
		progress := &progress{log: c.e.Log("confirm"), what: "runs"}
		progress.log.Printf("rerunning failed plans (%d), each %d times with and %[2]d times without the fault; waiting up to %[3]s for the expected state",
			len(trials), confirmations, (confirmingFactor * c.e.Options.StepTimeout).Round(time.Second))
		learned := c.run(ctx, trials, c.e.player.slots, progress)
		progress.end()
		if learned {
			c.e.replayChance(ctx, all, c.conditions())
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, trial := range trials {
			trial.note(all)
		}
	}
}

// conditions returns settings with timeouts that are long enough for the operator to recover through a relist.
func (c confirmer) conditions() conditions {
	return conditions{lateFactor: confirmingFactor, watchLife: c.watchLife}
}

// reset discards a confirmation if one of its fault-free runs differed from the reference only in fields that are now
// known to vary. Confirm then confirms the failure again.
func reset(all []Result) {
	for i := range all {
		if t := all[i].trial; t != nil && slices.ContainsFunc(t.withoutFault, func(d *verdict.Deviation) bool { return !d.Remains() }) {
			all[i].Confirmation, all[i].trial = nil, nil
		}
	}
}

// run runs the trials and waits for them. It returns true if the fault-free runs revealed new nondeterminism.
func (c confirmer) run(ctx context.Context, trials []*trial, slots chan struct{}, progress *progress) (learned bool) {
	how := c.conditions()
	progress.expect(2 * confirmations * len(trials))
	var running sync.WaitGroup
	for _, trial := range trials {
		trial.add(trial.example)
		for nth := range confirmations {
			for _, plan := range []Plan{trial.example.Plan, {Scenario: trial.example.Scenario}} {
				how := how
				if plan.Fault.Type == fault.None && nth == 0 { // only once, because this run takes as long as the failed one
					how.awaited = trial.example.awaited()
				}
				slots <- struct{}{}
				running.Go(func() {
					defer func() { <-slots }()
					if ctx.Err() == nil {
						trial.add(c.e.play(ctx, plan, how))
						progress.add("")
					}
				})
			}
		}
	}
	running.Wait()
	var differences []*verdict.Deviation
	for _, trial := range trials {
		differences = append(differences, trial.withoutFault...)
	}
	return ctx.Err() == nil && c.e.learner.learnVarying(differences)
}

// slots returns the semaphore for runs that confirm failures during an exploration. The plans occupy all of
// player.slots until the last one has started. If only one run is allowed at a time, slots returns player.slots.
func (c confirmer) slots() chan struct{} {
	if cap(c.e.player.slots) == 1 {
		return c.e.player.slots
	}
	return make(chan struct{}, max(1, cap(c.e.player.slots)/3))
}

// unconfirmed returns a new trial for each group of failures that needs another rerun (see Group.Next). It ignores
// failures that differsByChance attributes to nondeterminism, because replayChance reruns their plans.
func unconfirmed(all []Result) []*trial {
	var trials []*trial
	for _, group := range results.Groups(Report(all, nil).Plans) {
		group.Plans = slices.DeleteFunc(group.Plans, func(i int) bool { return all[i].differsByChance() })
		i, is := group.Next(func(i int) (*verdict.Confirmation, bool) { return all[i].Confirmation, all[i].trial != nil })
		if is {
			t := &trial{example: all[i], cause: group.Plans, verdict: verdict.Trial{Example: all[i].Findings}}
			all[i].trial = t
			trials = append(trials, t)
		}
	}
	return trials
}
