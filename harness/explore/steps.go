package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

// runSteps runs the steps of the scenario and meanwhile executes the pending steps of the fault.
func (r *run) runSteps(ctx context.Context) error {
	stop := r.releaseWhenIdle(ctx)
	defer func() { stop() }()
	converge := func(ctx context.Context) error {
		stop() // checkpoint executes the steps of the fault itself
		err := r.checkpoint(ctx)
		stop = r.releaseWhenIdle(ctx)
		return err
	}
	env := &scenario.Env{Client: r.env.config.ControlPlane.Client, Config: r.env.config.ControlPlane.Config, Namespace: r.namespace, StepTimeout: r.limit, History: r.env.history, Converge: converge}
	for i, step := range r.Steps {
		r.injector.Requests.SetStep(step.Name)
		if step.IsAction {
			if err := r.finishTimeTravel(ctx); err != nil {
				return stepError{"before " + step.Name, fmt.Errorf("before %s: %w", step.Name, err)}
			}
			r.actionStarts = append(r.actionStarts, len(r.env.history.Versions(r.namespace)))
			r.injector.NextAction()
		}
		start := time.Now()
		if err := r.diary.step(step.Name, step.IsAction, func() error { return r.RunStep(ctx, step, env).Err }); err != nil {
			r.unfinished = slices.ContainsFunc(r.Steps[i:], func(s scenario.Step) bool { return s.IsAction })
			return stepError{step.Name, fmt.Errorf("%s: %w", step.Name, err)}
		}
		r.noteLate(step.Name, start)
		r.sent = append(r.sent, r.injector.RequestCounts())
	}
	r.injector.Requests.SetStep(afterLastStep)
	return nil
}

// notConverged is returned by a step that waits for convergence.
type notConverged struct{ unstable, difference error }

func (e notConverged) Error() string { return errors.Join(e.unstable, e.difference).Error() }

// checkpoint waits until the run has converged to the state that the reference had at this step.
func (r *run) checkpoint(ctx context.Context) error {
	nth := len(r.checkpoints)
	var expected *expected
	if nth < len(r.against.checkpoints) {
		expected = r.against.checkpoints[nth]
	}
	unstable, difference := r.converge(ctx, expected, fmt.Sprintf("the state at the scenario's convergence %d differs from the reference, and later steps were not run", nth+1))
	if unstable != nil || difference != nil {
		return notConverged{unstable, difference}
	}
	r.checkpoints = append(r.checkpoints, r.snapshot())
	return nil
}

// noteLate records the duration of a successful step and whether it was late. It ignores the time in which the fault
// withheld something or the run lingered.
func (r *run) noteLate(step string, start time.Time) {
	end := time.Now()
	took := end.Sub(start)
	for _, withheld := range slices.Concat(r.injector.Delays(), r.lingered) {
		took -= withheld.Between(start, end)
	}
	r.slowest = max(r.slowest, took)
	late := &r.late
	if r.injector.TriggeredAt().IsZero() {
		late = &r.lateBefore
	}
	if *late == nil && took > r.timely {
		message := fmt.Sprintf("%s took %s, more than %s", step, took.Round(time.Second/10), r.timely.Round(time.Second/10))
		*late = &verdict.Finding{Oracle: verdict.Late, Step: step, Message: message}
	}
}
