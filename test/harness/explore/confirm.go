package explore

import (
	"context"
	"slices"
	"sync"

	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/oracle"
	"github.com/operator-assay/assay/test/harness/report/results"
)

const (
	// confirmations is how often a failed plan is run again, and as often its scenario without a fault.
	confirmations = 2
	// maxExamples is how many plans of a cause are run again until one fails alike: of a race, some faults hit more often
	// than others.
	maxExamples = 3
)

// Confirm runs a failed plan of each cause again, and its scenario without a fault, and notes in its result how often it
// failed alike. What fails only sometimes, or without a fault, tells nothing of the fault. What turns out to be random
// without a fault is not compared any more, and plans that failed by that alone are played again. When ctx ends, Confirm
// returns the cause.
func (e *Explorer) Confirm(ctx context.Context, all []Result) error {
	for {
		examples := unconfirmed(all)
		if len(examples) == 0 {
			return nil
		}
		differences := e.confirm(ctx, examples)
		if ctx.Err() == nil && e.learnRandom(differences) {
			e.playWhatDiffersNoMore(ctx, all)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// unconfirmed returns the plans that are run again next: one of each cause of which none has come again.
func unconfirmed(all []Result) []*Result {
	var examples []*Result
	for _, cause := range results.Causes(recordsOf(all, nil)) {
		var next *Result
		tried, closed := 0, false
		for _, i := range cause.Plans {
			switch came := all[i].Confirmation; {
			case came != nil:
				tried++
				closed = closed || !came.Unstable() || came.FailedWithoutFault > 0
			case next == nil:
				next = &all[i]
			}
		}
		if next != nil && !closed && tried < maxExamples {
			examples = append(examples, next)
		}
	}
	return examples
}

// confirm runs plans again. It returns how the runs without a fault differed from the reference.
func (e *Explorer) confirm(ctx context.Context, examples []*Result) []*difference {
	progress := newProgress("confirm", e.Progress, 2*confirmations*len(examples), "runs")
	progress.log.Printf("plans that are run %d times more, and their scenarios without a fault: %d", confirmations, len(examples))
	var confirming sync.WaitGroup
	var trials []*trial
	for _, example := range examples {
		trial := &trial{example: *example}
		trials = append(trials, trial)
		trial.add(*example)
		example.Confirmation = &trial.Confirmation
		for range confirmations {
			for _, fault := range []faultinject.Fault{example.Fault, {}} {
				e.slots <- struct{}{}
				confirming.Go(func() {
					defer func() { <-e.slots }()
					if ctx.Err() == nil {
						trial.add(e.judge(ctx, Plan{Scenario: example.Scenario, Fault: fault}))
						progress.addRun()
					}
				})
			}
		}
	}
	confirming.Wait()
	progress.end()
	var differences []*difference
	for _, trial := range trials {
		differences = append(differences, trial.withoutFault...)
	}
	return differences
}

// learnRandom learns what is random from runs without a fault, and tells whether that was news.
func (e *Explorer) learnRandom(differences []*difference) bool {
	var known oracle.Nondeterminism
	var news []string
	for _, d := range differences {
		var found oracle.Nondeterminism
		found.Learn(d.expected.nondeterminism.Normalize(d.expected.state), d.expected.nondeterminism.Normalize(d.state))
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
func (e *Explorer) playWhatDiffersNoMore(ctx context.Context, all []Result) {
	var indices []int
	var plans []Plan
	for i, result := range all {
		if result.difference != nil && !result.difference.remains() {
			indices, plans = append(indices, i), append(plans, result.Plan)
		}
	}
	for nth, again := range e.playAll(ctx, plans) {
		if ctx.Err() == nil {
			all[indices[nth]] = again
		}
	}
}

// trial counts how often a failure comes again.
type trial struct {
	example Result
	mu      sync.Mutex
	results.Confirmation
	// withoutFault is how runs without a fault differed from the reference.
	withoutFault []*difference
}

// add counts a run. One whose fault did not trigger is one without a fault.
func (t *trial) add(again Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	played, failed := &t.Played, &t.Failed
	if !again.Triggered {
		played, failed = &t.PlayedWithoutFault, &t.FailedWithoutFault
		if again.difference != nil {
			t.withoutFault = append(t.withoutFault, again.difference)
		}
	}
	*played++
	if t.example.failsLike(again) {
		*failed++
	}
}

// failsLike tells whether an oracle objects to both.
func (r Result) failsLike(other Result) bool {
	return slices.ContainsFunc(r.Findings, func(finding Finding) bool {
		return slices.ContainsFunc(other.Findings, func(its Finding) bool { return its.Oracle == finding.Oracle })
	})
}
