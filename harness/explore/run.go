package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

// Names of the implicit steps in a timeline, before and after the steps of the scenario.
const (
	startUp     = "operator starts"
	convergence = "Converged"
)

const finalDiffers = "the final state differs from the reference"

// run executes the steps of a scenario while its operator is running, and records what happens.
type run struct {
	attempt   attempt
	env       *environment
	recording *recording
	processes *processes
	waiter    *waiter
	releaser  *releaser
}

func newRun(a attempt, env *environment, recording *recording, processes *processes, p *player) *run {
	w := &waiter{
		injector: recording.injector, history: env.history, namespace: recording.namespace, timing: &recording.timing,
		pause: a.against.pause, polls: a.against.polls.Load(), awaited: a.conditions.awaited,
		timeTravels: a.fault.Category() == fault.TimeTravels,
	}
	recording.timing.timely = p.options.timely(a.against)
	w.limit = a.conditions.lateFactor * recording.timing.timely
	if a.against.final == nil {
		w.learningWindow, w.limit = p.learningWindow, recording.timing.timely
	}
	return &run{a, env, recording, processes, w, &releaser{waiter: w, released: make(chan struct{})}}
}

func (r *run) play(ctx context.Context) {
	rec, ref := r.recording, r.attempt.against
	var end outcome
	unfinished := true // true until the last action of the scenario has run
	if end.steps = rec.timeline.step(startUp, false, func() error { return r.waitReady(ctx) }); end.steps == nil {
		unfinished, end.steps = r.runSteps(ctx)
	}
	early, stopped := errors.AsType[notConverged](end.steps)
	switch {
	case stopped:
		end.steps, end.stopped, end.unstable, end.difference = nil, true, early.unstable, early.difference
	case end.steps == nil:
		_ = rec.timeline.step(convergence, false, func() error {
			end.unstable, end.difference = r.waiter.converge(ctx, ref.final, finalDiffers)
			return errors.Join(end.unstable, end.difference)
		})
	}
	if fatal := context.Cause(ctx); fatal != nil {
		end.steps, end.unstable, end.difference = fatal, nil, nil // the reason why the step failed
	}
	end.awaitedFound = r.waiter.awaitedFound
	end.history, end.state = r.env.history.Versions(rec.namespace), r.waiter.snapshot()
	if end.steps == nil {
		end.stuck = oracle.StuckDeletions(rec.namespace, scenario.User, r.env.history.Objects(rec.namespace))
	}
	if end.steps != nil && !unfinished {
		end.difference = ref.final.Compare(finalDiffers, end.state)
	}
	rec.outcome, rec.timeline.end = end, time.Now()
}

func (r *run) waitReady(ctx context.Context) error {
	start := time.Now()
	waiting, cancel := context.WithTimeout(ctx, r.recording.timing.timely)
	defer cancel()
	err := r.waiter.waitIdle(waiting, idleWindow)
	switch {
	case err != nil && !r.recording.injector.Synced():
		return stepError{startUp, fmt.Errorf("the operator has not listed or watched anything within %s", r.recording.timing.timely.Round(time.Second/10))}
	case err != nil:
		return stepError{startUp, err}
	}
	if err := r.processes.waitCompanions(waiting); err != nil {
		return stepError{startUp, err}
	}
	r.recording.timing.note(startUp, start, r.recording.injector)
	return nil
}

// runSteps runs the steps of the scenario, and the pending steps of the fault in the background. If a step fails,
// unfinished reports whether that step or a later one is an action.
func (r *run) runSteps(ctx context.Context) (unfinished bool, _ error) {
	rec, steps := r.recording, r.attempt.scenario.Steps
	stop := r.releaser.start(ctx)
	defer func() { stop() }()
	converge := func(ctx context.Context) error {
		stop() // the waiter executes the steps of the fault itself
		err := r.checkpoint(ctx)
		stop = r.releaser.start(ctx)
		return err
	}
	plane := r.env.config.ControlPlane
	env := &scenario.Env{Client: plane.Client, Config: plane.Config, Namespace: rec.namespace, StepTimeout: r.waiter.limit, History: r.env.history, Converge: converge}
	for i, step := range steps {
		rec.injector.Requests.SetStep(step.Name)
		if step.IsAction {
			if err := r.releaser.finishTimeTravel(ctx); err != nil {
				return false, stepError{"before " + step.Name, fmt.Errorf("before %s: %w", step.Name, err)}
			}
			rec.actionStarts = append(rec.actionStarts, len(r.env.history.Versions(rec.namespace)))
			rec.injector.NextAction()
		}
		start := time.Now()
		if err := rec.timeline.step(step.Name, step.IsAction, func() error { return r.attempt.scenario.RunStep(ctx, step, env).Err }); err != nil {
			unfinished = slices.ContainsFunc(steps[i:], func(s scenario.Step) bool { return s.IsAction })
			return unfinished, stepError{step.Name, fmt.Errorf("%s: %w", step.Name, err)}
		}
		rec.timing.note(step.Name, start, rec.injector)
		rec.sent = append(rec.sent, rec.injector.Journal.RequestCounts())
	}
	rec.injector.Requests.SetStep(oracle.AfterLastStep)
	return false, nil
}

// checkpoint implements scenario.Env.Converge. It compares the state with the next checkpoint of the reference.
func (r *run) checkpoint(ctx context.Context) error {
	nth := len(r.recording.checkpoints)
	var expected *verdict.Expected
	if all := r.attempt.against.checkpoints; nth < len(all) {
		expected = all[nth]
	}
	unstable, difference := r.waiter.converge(ctx, expected, fmt.Sprintf("the state at the scenario's convergence %d differs from the reference, and later steps were not run", nth+1))
	if unstable != nil || difference != nil {
		return notConverged{unstable, difference}
	}
	r.recording.checkpoints = append(r.recording.checkpoints, r.waiter.snapshot())
	return nil
}

// notConverged is the error if the state at a checkpoint does not become stable or differs from the reference.
type notConverged struct{ unstable, difference error }

func (e notConverged) Error() string { return errors.Join(e.unstable, e.difference).Error() }

// stepError is an error from a scenario step or from a wait added by the explorer.
type stepError struct {
	step string
	error
}

func (e stepError) Unwrap() error { return e.error }

// releaser runs the pending steps of a fault while the scenario is running. It waits for the operator to become idle
// before each step.
type releaser struct {
	waiter   *waiter
	released chan struct{} // closed when the fault has no more pending steps
	once     sync.Once
}

// start runs the steps in the background until stop is called. waitConverged runs the remaining steps and checks their
// effects.
func (r *releaser) start(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-r.waiter.injector.Pending():
		case <-ctx.Done():
			return
		}
		for r.waiter.waitForStep(ctx) == nil {
			if !r.waiter.injector.Release() {
				r.once.Do(func() { close(r.released) })
				return
			}
		}
	}()
	return func() {
		cancel()
		<-stopped
	}
}

// finishTimeTravel waits for a pending time-travel fault to complete before the next action, so that the action does
// not happen while the operator still sees an old state.
func (r *releaser) finishTimeTravel(ctx context.Context) error {
	if !r.waiter.timeTravels {
		return nil
	}
	if err := r.waiter.waitForStep(ctx); err != nil {
		return err
	}
	if !r.waiter.injector.IsPending() {
		return nil // the operator has not yet seen the action that triggers the time-travel fault
	}
	select {
	case <-r.released:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
