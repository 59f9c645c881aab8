package explore

import (
	"context"

	"github.com/operator-assay/assay/harness/fault"
)

// releaseWhenIdle executes the steps of a pending fault, each when the operator is idle. The returned function stops
// it. The remaining steps are then left to waitConverged, which also checks their effects.
func (r *run) releaseWhenIdle(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-r.injector.Pending():
		case <-ctx.Done():
			return
		}
		for r.waitHeld(ctx) == nil {
			if !r.injector.Release() {
				r.releasedOnce.Do(func() { close(r.released) })
				return
			}
		}
	}()
	return func() {
		cancel()
		<-stopped
	}
}

// waitHeld waits until the operator is idle, but no longer than idleTimeout.
func (r *run) waitHeld(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, idleTimeout)
	defer cancel()
	if err := r.waitIdle(bounded, r.window(idleWindow)); ctx.Err() != nil {
		return err
	}
	return nil
}

// finishTimeTravel waits for a pending time travel to complete before the next action, so that the action does not
// happen while the operator has an old view.
func (r *run) finishTimeTravel(ctx context.Context) error {
	if r.fault.Category() != fault.TimeTravels {
		return nil
	}
	if err := r.waitHeld(ctx); err != nil {
		return err
	}
	if !r.injector.IsPending() {
		return nil // the operator has not yet seen the action that triggers the time travel
	}
	select {
	case <-r.released:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
