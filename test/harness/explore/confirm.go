package explore

import (
	"context"
	"slices"
	"sync"

	"github.com/operator-assay/assay/test/harness/faultinject"
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
// failed alike. What fails only sometimes, or without a fault, tells nothing of the fault. When ctx ends, Confirm
// returns the cause.
func (e *Explorer) Confirm(ctx context.Context, all []Result) error {
	open := results.Causes(recordsOf(all, nil))
	for nth := range maxExamples {
		open = slices.DeleteFunc(open, func(cause results.Cause) bool { return nth >= len(cause.Plans) })
		var examples []*Result
		for _, cause := range open {
			examples = append(examples, &all[cause.Plans[nth]])
		}
		e.confirm(ctx, examples)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		open = slices.DeleteFunc(open, func(cause results.Cause) bool {
			came := all[cause.Plans[nth]].Confirmation
			return !came.Unstable() || came.FailedWithoutFault > 0
		})
	}
	return nil
}

// confirm runs plans again.
func (e *Explorer) confirm(ctx context.Context, examples []*Result) {
	if len(examples) == 0 {
		return
	}
	progress := newProgress("confirm", e.Progress, 2*confirmations*len(examples), "runs")
	progress.log.Printf("plans that are run %d times more, and their scenarios without a fault: %d", confirmations, len(examples))
	var confirming sync.WaitGroup
	for _, example := range examples {
		trial := &trial{example: *example}
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
}

// trial counts how often a failure comes again.
type trial struct {
	example Result
	mu      sync.Mutex
	results.Confirmation
}

// add counts a run. One whose fault did not trigger is one without a fault.
func (t *trial) add(again Result) {
	t.mu.Lock()
	defer t.mu.Unlock()
	played, failed := &t.Played, &t.Failed
	if !again.Triggered {
		played, failed = &t.PlayedWithoutFault, &t.FailedWithoutFault
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
