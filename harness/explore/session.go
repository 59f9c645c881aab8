package explore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/scenario"
)

// Session is an exploration in progress. It runs a scenario's plans as soon as that scenario's reference is complete,
// even if other scenarios have no reference yet or have not been generated.
type Session struct {
	e          *Explorer
	ctx        context.Context
	cancel     context.CancelCauseFunc
	categories []fault.Category
	progress   *progress
	exploring  sync.WaitGroup // scenarios that are being explored
	confirming confirming

	mu      sync.Mutex
	results []Result
	failed  []error // why scenarios have no reference
}

// confirming holds the state of the trials that confirm failures. Other plans run at the same time.
type confirming struct {
	isOn      bool // protected by Session.mu
	trials    sync.WaitGroup
	slots     chan struct{}
	progress  *progress
	reporting sync.Mutex // serializes calls to SoFar
}

// Start starts an exploration in the background. Scenarios can be added to it with Add.
func (e *Explorer) Start(ctx context.Context, categories ...fault.Category) *Session {
	x := &Session{e: e, categories: categories, progress: &progress{log: e.Log("explore"), what: "plans"}}
	x.confirming.isOn, x.confirming.slots, x.confirming.progress = e.Options.SoFar != nil, e.confirmer.slots(), &progress{log: e.Log("confirm"), what: "runs"}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	for _, s := range e.Options.Scenarios {
		x.explore(s)
	}
	return x
}

// Add adds a scenario to the exploration. It does not wait for the results.
func (x *Session) Add(s scenario.Scenario) error {
	if err := x.e.AddScenario(s); err != nil {
		return err
	}
	x.explore(s)
	return nil
}

func (x *Session) add(result Result) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := slices.IndexFunc(x.results, isPlan(result.Plan)); i >= 0 {
		x.results[i] = result
	} else {
		x.results = append(x.results, result)
	}
	if !result.Passed() {
		x.confirm()
	}
}

// confirm starts a trial for each cause that needs one; see unconfirmed. The caller must hold x.mu.
func (x *Session) confirm() {
	if !x.confirming.isOn || x.ctx.Err() != nil {
		return
	}
	for _, t := range unconfirmed(x.results) {
		x.confirming.trials.Go(func() {
			x.e.confirmer.run(x.ctx, []*trial{t}, x.confirming.slots, x.confirming.progress)
			x.note(t)
		})
	}
}

// note stores the outcome of a trial, and calls SoFar with the current results.
func (x *Session) note(t *trial) {
	x.confirming.reporting.Lock()
	defer x.confirming.reporting.Unlock()
	if x.ctx.Err() != nil {
		return // interrupted
	}
	x.mu.Lock()
	t.note(x.results)
	x.confirm() // if the failure was not reproduced, try another plan with the same cause
	soFar := withoutNondeterministic(x.results)
	x.mu.Unlock()
	x.e.Options.SoFar(soFar)
}

// withoutNondeterministic omits failures that later runs explain as nondeterminism. Their plans are rerun at the end.
func withoutNondeterministic(all []Result) []Result {
	return slices.DeleteFunc(slices.Clone(all), Result.differsByChance)
}

// leaveOut records why a scenario has no reference. It cancels the exploration unless Options.LeaveOut is set.
func (x *Session) leaveOut(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.failed = append(x.failed, err)
	if !x.e.Options.LeaveOut {
		x.cancel(errNotLearned)
	} else if x.ctx.Err() == nil {
		why, _, _ := strings.Cut(err.Error(), "\n")
		x.e.printf("skipping a scenario: %s", why)
	}
}

// errNotLearned is the cancellation cause if a scenario fails without any fault.
var errNotLearned = errors.New("a scenario has no reference")

// Wait waits for the exploration to end and returns its results. See Explore.
func (x *Session) Wait() ([]Result, error) {
	x.exploring.Wait()
	x.stopConfirming()
	defer x.cancel(nil)
	defer x.progress.end()
	cause := context.Cause(x.ctx)
	if len(x.failed) > 0 && (errors.Is(cause, errNotLearned) || len(x.e.learner.references) == 0) {
		return nil, x.failed[0] // the first error is enough, because all scenarios usually fail for the same reason
	}
	var plans []Plan
	for _, category := range x.categories {
		plans = append(plans, x.e.planner.plans(category)...)
	}
	played := inOrder(plans, x.results)
	if cause != nil {
		return withoutNondeterministic(played), cause
	}
	x.e.replayChance(x.ctx, played, usual)
	return played, context.Cause(x.ctx)
}

// stopConfirming prevents new trials and waits for the running ones. Confirm handles the remaining failures, because it
// can run more trials at once.
func (x *Session) stopConfirming() {
	x.mu.Lock()
	x.confirming.isOn = false
	x.mu.Unlock()
	x.confirming.trials.Wait()
	x.confirming.progress.end()
}
