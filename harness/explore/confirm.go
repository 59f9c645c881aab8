package explore

import (
	"context"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/verdict"
)

const (
	// confirmations is how often a failed plan is run again, and as often its scenario without a fault.
	confirmations = 2
)

// Confirm runs a failed plan of each cause again, and its scenario without a fault, and notes in its result how often it
// failed alike. What fails only sometimes, or without a fault, tells nothing of the fault; nor does a state that a run
// without a fault comes to when it goes on for as long as the failed one. What turns out to be random without a fault is
// not compared any more, and plans that failed by that alone are played again. What is right in the end when the operator
// has more time is late. When ctx ends, Confirm returns the cause.
func (e *Explorer) Confirm(ctx context.Context, all []Result) error {
	e.confirmAnew(all)
	for {
		trials := unconfirmed(all)
		if len(trials) == 0 {
			return nil
		}
		progress := newProgress(e.Log("confirm"), "runs")
		progress.log.Printf("plans that are run %d times more, and their scenarios without a fault: %d; up to %s for a lost state",
			confirmations, len(trials), e.confirming().limit(e.StepTimeout).Round(time.Second))
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

// confirmAnew has what was confirmed too early be confirmed again: a lost state that was not waited for as long as the operator is
// known to resync now, and what a run without a fault differed in that is known as random now.
func (e *Explorer) confirmAnew(all []Result) {
	limit := e.confirming().limit(e.StepTimeout)
	for i := range all {
		if t := all[i].trial; t != nil && (all[i].has(verdict.Finding.IsLoss) && t.waited < limit || t.differedByChance()) {
			all[i].Confirmation, all[i].trial = nil, nil
		}
	}
}

// unconfirmed returns the plans that are run again next: one of each cause of which none has come again, and none is run again now.
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

// failuresOf returns what grouping needs to know of the results.
func failuresOf(all []Result) []verdict.Failure {
	var failures []verdict.Failure
	for i, r := range all {
		if !r.Passed() {
			failures = append(failures, verdict.Failure{Index: i, Findings: r.Findings, Confirmation: r.Confirmation, Triggered: r.Triggered, IsPair: r.isPair(), Effort: r.Run.Effort()})
		}
	}
	return failures
}

// confirm runs plans again, and their scenarios without a fault, and tells whether it has learnt that more is random. There is a slot
// for each run at a time.
func (e *Explorer) confirm(ctx context.Context, trials []*trial, slots chan struct{}, progress *progress) (learnt bool) {
	confirming := e.confirming()
	confirming.slots = slots
	progress.expect(2 * confirmations * len(trials))
	var running sync.WaitGroup
	for _, trial := range trials {
		trial.waited = confirming.limit(e.StepTimeout)
		trial.add(trial.example)
		for nth := range confirmations {
			for _, plan := range []Plan{trial.example.Plan, {Scenario: trial.example.Scenario}} {
				how := confirming
				if plan.Fault.Type == fault.None && nth == 0 { // one is enough, and it takes as long as a failed run
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

// confirmingSlots are for runs that confirm something while plans are played: of their own, because a thousand plans may wait for
// the others, unless there is one run at a time.
func (e *Explorer) confirmingSlots() chan struct{} {
	if cap(e.slots) == 1 {
		return e.slots
	}
	return make(chan struct{}, max(1, cap(e.slots)/3))
}

// learnRandom learns what is random from runs without a fault, and tells whether that was news.
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

// playWhatDiffersNoMore plays the plans again that differed from the reference by nothing but what is now known as
// random.
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
