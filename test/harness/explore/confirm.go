package explore

import (
	"context"
	"slices"
	"sync"

	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/report/results"
)

// confirmations is how often a failed plan is run again, and as often its scenario without a fault.
const confirmations = 2

// Confirm runs one failed plan of each cause again, and its scenario without a fault, and notes in its result how often
// it failed alike. What fails only sometimes, or without a fault, tells nothing of the fault. When ctx ends, Confirm
// returns the cause.
func (e *Explorer) Confirm(ctx context.Context, all []Result) error {
	var confirming sync.WaitGroup
	for _, cause := range results.Causes(recordsOf(all, nil)) {
		example := &all[cause.Plans[0]]
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
					}
				})
			}
		}
	}
	confirming.Wait()
	return context.Cause(ctx)
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
