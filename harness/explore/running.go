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

// Running is an exploration that is under way. The plans of a scenario are played as soon as it is learnt, while others are
// learnt, or invented.
type Running struct {
	e          *Explorer
	ctx        context.Context
	cancel     context.CancelCauseFunc
	categories []fault.Category
	progress   *progress
	exploring  sync.WaitGroup // scenarios

	confirming sync.WaitGroup
	telling    sync.Mutex    // SoFar is called once at a time
	more       chan struct{} // gets a value when more has failed
	allPlayed  chan struct{}

	mu      sync.Mutex
	results []Result
	failed  []failure
}

// Explore plays all plans of the categories and returns their results in the order of the plans. It returns an error
// if a scenario fails without any fault, since it has no reference then, but for Options.LeaveOut. When ctx ends, it returns
// the results so far and the cause.
func (e *Explorer) Explore(ctx context.Context, categories ...fault.Category) ([]Result, error) {
	return e.Start(ctx, categories...).Wait()
}

// Start begins what Explore does, for the scenarios that there are and those that are added.
func (e *Explorer) Start(ctx context.Context, categories ...fault.Category) *Running {
	x := &Running{
		e: e, categories: categories, progress: newProgress(e.Log("explore"), "plans"),
		more: make(chan struct{}, 1), allPlayed: make(chan struct{}),
	}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	if e.SoFar != nil {
		x.confirming.Go(x.confirm)
	}
	for _, s := range e.Scenarios {
		x.explore(s)
	}
	return x
}

// Add adds a scenario to those of the explorer, and has it explored. It does not wait for that.
func (x *Running) Add(s scenario.Scenario) error {
	if err := x.e.AddScenario(s); err != nil {
		return err
	}
	x.explore(s)
	return nil
}

// explore explores a scenario in the background. When it turns out meanwhile that runs need a control plane alone, it begins
// anew.
func (x *Running) explore(s scenario.Scenario) {
	x.exploring.Go(func() {
		for again := true; again && x.ctx.Err() == nil; again = !x.e.isLearnt(s.Name) {
			if !x.e.isLearnt(s.Name) {
				x.drop(s.Name)
				if err := x.e.learnOne(x.ctx, s); err != nil {
					x.leaveOut(s.Name, err)
					return
				}
			}
			x.play(s, x.e.reference(s.Name))
		}
	})
}

// play plays the plans of a scenario.
func (x *Running) play(s scenario.Scenario, ref *reference) {
	x.e.startLastingRun(s, ref)
	var plans []Plan
	for _, category := range x.categories {
		plans = append(plans, x.e.plansOf(s, ref, category)...)
	}
	plans = slices.DeleteFunc(plans, func(plan Plan) bool { return !x.e.Shard.Has(plan.String()) })
	x.e.playBeside(x.ctx, plans, usual, x.progress, x.add)
}

// add adds a result, or replaces an earlier one of the same plan.
func (x *Running) add(result Result) {
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

// drop forgets what has come of a scenario. The places of its results stay, because trials know others by theirs.
func (x *Running) drop(name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, result := range x.results {
		if result.Scenario == name {
			x.results[i] = Result{Plan: result.Plan, stale: true}
		}
	}
}

// confirm confirms what fails, each cause by itself, until all plans are played.
func (x *Running) confirm() {
	slots, progress := x.e.confirmingSlots(), newProgress(x.e.Log("confirm"), "runs")
	defer progress.end()
	var confirming sync.WaitGroup
	defer confirming.Wait()
	for {
		select {
		case <-x.more:
		case <-x.ctx.Done():
			return
		case <-x.allPlayed:
			return
		}
		x.mu.Lock()
		trials := unconfirmed(x.results)
		x.mu.Unlock()
		for _, t := range trials {
			confirming.Go(func() {
				x.e.confirm(x.ctx, []*trial{t}, slots, progress)
				x.note(t)
			})
		}
	}
}

// note notes what has come of a trial, and gives the results so far to SoFar, but for those that are to be played again.
func (x *Running) note(t *trial) {
	x.telling.Lock()
	defer x.telling.Unlock()
	if x.ctx.Err() != nil {
		return // it was interrupted
	}
	x.mu.Lock()
	t.note(x.results)
	soFar := withoutChance(x.results)
	x.mu.Unlock()
	x.e.SoFar(soFar)
	x.hasMore() // of the cause another example may have to be tried
}

func (x *Running) hasMore() {
	select {
	case x.more <- struct{}{}:
	default: // one is waiting
	}
}

// withoutChance are the results that count, but for those that differ by what is now known as random: they are to be played again.
func withoutChance(all []Result) []Result {
	return slices.DeleteFunc(slices.Clone(all), func(r Result) bool { return r.stale || r.difference != nil && !r.difference.remains() })
}

// failure is why a scenario is left out.
type failure struct {
	scenario string
	error
	alone bool // on control planes alone
}

// leaveOut notes why a scenario is left out. Unless that is allowed, it ends the exploration.
func (x *Running) leaveOut(name string, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.failed = append(x.failed, failure{name, err, x.e.places.needed.Load()})
	if !x.e.LeaveOut {
		x.cancel(errNotLearnt)
	} else if x.ctx.Err() == nil {
		why, _, _ := strings.Cut(err.Error(), "\n")
		x.e.tell("left out: %s", why)
	}
}

// errNotLearnt is why an exploration ends when a scenario fails without a fault.
var errNotLearnt = errors.New("a scenario has no reference")

// exploreAnew explores the scenarios again whose runs did not have a control plane alone, when others need that. It tells whether
// there are any.
func (x *Running) exploreAnew() (anew bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.e.Scenarios {
		failedBefore := func(f failure) bool { return f.scenario == s.Name && f.alone != x.e.places.needed.Load() }
		if x.ctx.Err() == nil && (x.e.reference(s.Name) != nil && !x.e.isLearnt(s.Name) || slices.ContainsFunc(x.failed, failedBefore)) {
			anew, x.failed = true, slices.DeleteFunc(x.failed, failedBefore)
			x.explore(s)
		}
	}
	return anew
}

// Wait returns what Explore does.
func (x *Running) Wait() ([]Result, error) {
	for again := true; again; again = x.exploreAnew() {
		x.exploring.Wait()
	}
	close(x.allPlayed)
	x.confirming.Wait()
	defer x.cancel(nil)
	defer x.progress.end()
	cause := context.Cause(x.ctx)
	if len(x.failed) > 0 && (errors.Is(cause, errNotLearnt) || len(x.e.references) == 0) {
		return nil, x.failed[0].error // one is enough: a common cause fails all of them
	}
	played := x.inOrder()
	if cause != nil {
		return withoutChance(played), cause
	}
	x.e.playWhatDiffersNoMore(x.ctx, played, usual)
	return played, context.Cause(x.ctx)
}

// inOrder are the results in the order of the plans.
func (x *Running) inOrder() []Result {
	var played []Result
	for _, category := range x.categories {
		for _, plan := range x.e.plans(category) {
			if i := slices.IndexFunc(x.results, isPlan(plan)); i >= 0 && !x.results[i].stale {
				played = append(played, x.results[i])
			}
		}
	}
	return played
}
