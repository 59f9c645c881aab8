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

// confirming is the state of the goroutine that confirms failures while other plans run.
type confirming struct {
	running   sync.WaitGroup
	reporting sync.Mutex    // serializes calls to SoFar
	more      chan struct{} // receives a value when there are new failures to confirm
	allPlayed chan struct{}
}

// Start starts an exploration in the background. Scenarios can be added to it with Add.
func (e *Explorer) Start(ctx context.Context, categories ...fault.Category) *Session {
	x := &Session{e: e, categories: categories, progress: newProgress(e.Log("explore"), "plans")}
	x.confirming.more, x.confirming.allPlayed = make(chan struct{}, 1), make(chan struct{})
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	if e.Options.SoFar != nil {
		x.confirming.running.Go(x.confirm)
	}
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
		x.hasMore()
	}
}

// confirm confirms failures in the background, one trial per cause, until all plans have been run.
func (x *Session) confirm() {
	slots, progress := x.e.confirmer.slots(), newProgress(x.e.Log("confirm"), "runs")
	defer progress.end()
	var confirming sync.WaitGroup
	defer confirming.Wait()
	for {
		select {
		case <-x.confirming.more:
		case <-x.ctx.Done():
			return
		case <-x.confirming.allPlayed:
			return
		}
		x.mu.Lock()
		trials := unconfirmed(x.results)
		x.mu.Unlock()
		for _, t := range trials {
			confirming.Go(func() {
				x.e.confirmer.run(x.ctx, []*trial{t}, slots, progress)
				x.note(t)
			})
		}
	}
}

// note stores the outcome of a trial. It then calls SoFar with the current results. It omits the plans that will be
// rerun.
func (x *Session) note(t *trial) {
	x.confirming.reporting.Lock()
	defer x.confirming.reporting.Unlock()
	if x.ctx.Err() != nil {
		return // interrupted
	}
	x.mu.Lock()
	t.note(x.results)
	soFar := withoutChance(x.results)
	x.mu.Unlock()
	x.e.Options.SoFar(soFar)
	x.hasMore() // another example of the cause may have to be confirmed
}

func (x *Session) hasMore() {
	select {
	case x.confirming.more <- struct{}{}:
	default: // confirm is already notified
	}
}

// withoutChance omits the results for which differsByChance returns true. Their plans are rerun at the end.
func withoutChance(all []Result) []Result {
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
		x.e.printf("left out: %s", why)
	}
}

// errNotLearned is the cancellation cause if a scenario fails without any fault.
var errNotLearned = errors.New("a scenario has no reference")

// Wait waits for the exploration to end and returns its results. See Explore.
func (x *Session) Wait() ([]Result, error) {
	x.exploring.Wait()
	close(x.confirming.allPlayed)
	x.confirming.running.Wait()
	defer x.cancel(nil)
	defer x.progress.end()
	cause := context.Cause(x.ctx)
	if len(x.failed) > 0 && (errors.Is(cause, errNotLearned) || len(x.e.learner.references) == 0) {
		return nil, x.failed[0] // the first error is enough, because all scenarios usually fail for the same reason
	}
	played := x.inOrder()
	if cause != nil {
		return withoutChance(played), cause
	}
	x.e.executor.replayChance(x.ctx, played, usual)
	return played, context.Cause(x.ctx)
}

func (x *Session) inOrder() []Result {
	var played []Result
	for _, category := range x.categories {
		for _, plan := range x.e.planner.plans(category) {
			if i := slices.IndexFunc(x.results, isPlan(plan)); i >= 0 {
				played = append(played, x.results[i])
			}
		}
	}
	return played
}
