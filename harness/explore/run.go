package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	player    *player
	abort     context.CancelCauseFunc
}

func (r *run) isLearning() bool { return r.attempt.against.states == nil }

func (r *run) limit() time.Duration {
	if r.isLearning() {
		return r.recording.timing.timely
	}
	return r.attempt.conditions.lateFactor * r.recording.timing.timely
}

func (r *run) play(ctx context.Context) {
	rec, ref := r.recording, r.attempt.against
	end := &rec.outcome
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
			end.unstable, end.difference = r.converge(ctx, ref.final(), finalDiffers)
			return errors.Join(end.unstable, end.difference)
		})
	}
	if fatal := context.Cause(ctx); fatal != nil {
		end.steps, end.unstable, end.difference = fatal, nil, nil // the reason why the step failed
	}
	end.history, end.state = r.env.history.Versions(rec.namespace), r.snapshot()
	if end.steps == nil {
		end.stuck = oracle.StuckDeletions(rec.namespace, scenario.User, r.env.history.Objects(rec.namespace))
	}
	if end.steps != nil && !unfinished {
		end.difference = ref.final().Compare(finalDiffers, end.state)
	}
	rec.timeline.end = time.Now()
}

func (r *run) waitReady(ctx context.Context) error {
	start := time.Now()
	waiting, cancel := context.WithTimeout(ctx, r.limit())
	defer cancel()
	err := r.waitIdle(waiting, idleWindow)
	switch {
	case err != nil && !r.recording.injector.Synced():
		return stepError{startUp, fmt.Errorf("the operator has not listed or watched anything within %s", r.limit().Round(time.Second/10))}
	case err != nil:
		return stepError{startUp, err}
	}
	if err := r.waitCompanions(waiting); err != nil {
		return stepError{startUp, err}
	}
	r.recording.timing.note(startUp, start, r.recording.injector)
	return nil
}

// runSteps runs the steps of the scenario. Meanwhile, startReleasing runs the pending steps of the fault. If a step
// fails, the result unfinished is true if that step or a later one is an action.
func (r *run) runSteps(ctx context.Context) (unfinished bool, _ error) {
	rec, steps := r.recording, r.attempt.scenario.Steps
	stop := r.startReleasing(ctx)
	defer func() { stop() }()
	// withoutReleasing stops the background goroutine while a function runs that calls Injector.Release itself.
	withoutReleasing := func(do func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error {
			stop()
			defer func() { stop = r.startReleasing(ctx) }()
			return do(ctx)
		}
	}
	plane := r.env.config.ControlPlane
	env := &scenario.Env{Client: plane.Client, Config: plane.Config, Namespace: rec.namespace, StepTimeout: r.limit(), History: r.env.history, Converge: withoutReleasing(r.checkpoint)}
	for i, step := range steps {
		rec.injector.Requests.SetStep(step.Name)
		if step.IsAction {
			if r.attempt.fault.Category() == fault.TimeTravels {
				if err := withoutReleasing(r.finishTimeTravel)(ctx); err != nil {
					return false, stepError{"before " + step.Name, fmt.Errorf("before %s: %w", step.Name, err)}
				}
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

// startReleasing runs the fault's pending steps in the background. Before each step, it waits for an idle operator.
func (r *run) startReleasing(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-r.recording.injector.Pending():
		case <-ctx.Done():
			return
		}
		for r.waitForStep(ctx) == nil && r.recording.injector.Release() {
		}
	}()
	return func() {
		cancel()
		<-stopped
	}
}

// finishTimeTravel completes a pending time-travel fault, so that the operator does not see an old state when the next
// action runs. It first waits until the operator is idle, because the next event may make the fault pending.
func (r *run) finishTimeTravel(ctx context.Context) error {
	for {
		if err := r.waitForStep(ctx); err != nil {
			return err
		}
		if !r.recording.injector.IsPending() || !r.recording.injector.Release() {
			return nil
		}
	}
}

// checkpoint implements scenario.Env.Converge. It compares the state with the next checkpoint of the reference.
func (r *run) checkpoint(ctx context.Context) error {
	nth := len(r.recording.checkpoints)
	var expected *verdict.Expected
	if all := r.attempt.against.states; nth < len(all) {
		expected = all[nth]
	}
	unstable, difference := r.converge(ctx, expected, fmt.Sprintf("the state at convergence check %d differs from the reference; the remaining steps were skipped", nth+1))
	if unstable != nil || difference != nil {
		return notConverged{unstable, difference}
	}
	r.recording.checkpoints = append(r.recording.checkpoints, r.snapshot())
	return nil
}

// notConverged is returned by checkpoint if the state does not become stable or differs from the reference.
type notConverged struct{ unstable, difference error }

func (e notConverged) Error() string { return errors.Join(e.unstable, e.difference).Error() }

type stepError struct {
	step string
	error
}

func (e stepError) Unwrap() error { return e.error }
