package explore

import (
	"context"
	"time"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

const (
	// settleWindow is how long nothing may change at the end of a run. It is more than operators commonly debounce.
	settleWindow = 400 * time.Millisecond
	// heldBound is how long a fault waits for the operator to be idle before its next step, such as the end of a stale
	// view. An operator that repeats a request until then has a finding of BoundedRetries.
	heldBound = 5 * time.Second
)

// converge waits until the run has converged to an expected state, and lingers there if it is to.
func (r *run) converge(ctx context.Context, expected *expected, differing string) (restless, differs error) {
	compare := func(state oracle.Snapshot) error { return expected.compare(differing, state) }
	restless, differs = r.waitConverged(ctx, compare)
	if restless == nil && differs == nil && r.awaited != nil && r.awaited.expected == expected {
		differs = r.linger(ctx, compare)
	}
	return restless, differs
}

// waitConverged waits until no object changes, the operator is idle, and the state equals the reference's. An
// idle operator alone is not enough, since a slow machine may just pause.
func (r *run) waitConverged(ctx context.Context, compare func(oracle.Snapshot) error) (restless, differs error) {
	waiting, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	start := time.Now()
	learning := r.against.final == nil
	for {
		changed, last := r.at.history.Changed(r.namespace)
		var err error
		if !learning || !r.learnPause(waiting) {
			err = r.waitSettled(waiting, learning)
		}
		switch {
		case err == nil && time.Since(start) < heldBound && r.travelsTooSoon(compare):
			select {
			case <-changed:
			case <-time.After(r.window(idleWindow)):
			case <-waiting.Done():
			}
			continue
		case r.injector.Release(): // the fault has steps left
			continue
		case err != nil && waiting.Err() == nil: // only heldBound is over
			continue
		case err != nil:
			return err, nil
		}
		differs = compare(r.snapshot())
		var notFinal <-chan time.Time
		if differs == nil {
			if notFinal = r.notFinal(last); notFinal == nil {
				r.noteLate(convergence, start)
				return nil, nil
			}
		}
		select {
		case <-changed:
		case <-notFinal:
		case <-waiting.Done():
			return nil, differs
		}
	}
}

// waitSettled waits until nothing changes any more, but not for much longer than heldBound.
func (r *run) waitSettled(ctx context.Context, learning bool) error {
	window := r.window(settleWindow)
	if learning {
		window = max(2*settleWindow, slowFactor*r.injector.Requests.Requests().Slowest())
	}
	held, cancel := context.WithTimeout(ctx, max(heldBound, 2*window))
	defer cancel()
	return r.waitIdle(held, window)
}

// waitIdle waits until the operator sends no request, and no object changes, for a window.
func (r *run) waitIdle(ctx context.Context, window time.Duration) error {
	return r.injector.WaitIdle(ctx, r.at.history, window, r.isActivity)
}

// isActivity tells whether the operator is not idle because of a request.
func (r *run) isActivity(request record.Request) bool {
	return request.IsActivity() && (request.IsWrite() || !r.polls)
}

// travelsTooSoon tells whether a time travel is due, although the operator has not yet done all that it does about the last
// action without a fault: one that waits, between two looks at something, is idle meanwhile.
func (r *run) travelsTooSoon(compare func(oracle.Snapshot) error) bool {
	return r.fault.Category() == fault.TimeTravels && r.injector.TriggeredAt().IsZero() && r.injector.IsPending() && compare(r.snapshot()) != nil
}

// linger waits for the awaited difference as long as a failed run has waited for its end: what comes in without the fault,
// but after the reference has ended, such as what an operator does half a minute later, is none of the fault's doing.
func (r *run) linger(ctx context.Context, compare func(oracle.Snapshot) error) error {
	waiting, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	since := time.Now()
	defer func() { r.lingered = append(r.lingered, fault.Withheld{From: since, To: time.Now()}) }()
	for {
		changed, _ := r.at.history.Changed(r.namespace)
		settled := r.at.history.WaitStable(waiting, r.namespace, settleWindow) == nil
		state := r.snapshot()
		if settled && r.awaited.comesIn(state) {
			r.cameIn = true
			return compare(state)
		}
		select {
		case <-changed:
		case <-waiting.Done():
			return nil
		}
	}
}

// endWatches ends all watches again and again until ctx ends.
func (r *run) endWatches(ctx context.Context) {
	for {
		select {
		case <-time.After(r.watchLife):
			r.injector.EndWatches()
		case <-ctx.Done():
			return
		}
	}
}
