package explore

import (
	"context"

	"github.com/operator-assay/assay/harness/fault"
)

// releaseWhenIdle releases a pending fault step by step, each when the operator is idle, until it is stopped. Steps
// that are left then are for waitConverged, which also checks their effects.
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

// waitHeld waits until the operator is idle, which is when a fault goes on to its next step, but not for longer than
// heldBound.
func (r *run) waitHeld(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, heldBound)
	defer cancel()
	if err := r.waitIdle(bounded, r.window(idleWindow)); ctx.Err() != nil {
		return err
	}
	return nil
}

// finishTimeTravel waits, before the next action, until an operator that has seen the last one has travelled and
// returned: the scenario goes on in the present.
func (r *run) finishTimeTravel(ctx context.Context) error {
	if r.fault.Category() != fault.TimeTravels {
		return nil
	}
	if err := r.waitHeld(ctx); err != nil {
		return err
	}
	if !r.injector.IsPending() {
		return nil // it has not seen the action yet that it goes back from
	}
	select {
	case <-r.released:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
