package explore

import (
	"context"
	"time"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

// converge waits until the run reaches the expected state. If the run has an awaited difference for this state, it
// then also waits for that difference.
func (r *run) converge(ctx context.Context, expected *expected, differing string) (restless, differs error) {
	compare := func(state oracle.Snapshot) error { return expected.compare(differing, state) }
	restless, differs = r.waitConverged(ctx, compare)
	if restless == nil && differs == nil && r.awaited != nil && r.awaited.expected == expected {
		differs = r.linger(ctx, compare)
	}
	return restless, differs
}

// waitConverged waits until no object changes, the operator is idle and the state equals the expected one. It
// compares the state because on a slow machine an operator may be idle before it is done.
func (r *run) waitConverged(ctx context.Context, compare func(oracle.Snapshot) error) (restless, differs error) {
	waiting, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	start := time.Now()
	learning := r.against.final == nil
	for {
		changed, last := r.env.history.Changed(r.namespace)
		var err error
		if !learning || !r.learnPause(waiting) {
			err = r.waitSettled(waiting, learning)
		}
		switch {
		case err == nil && time.Since(start) < idleTimeout && r.travelsTooSoon(compare):
			select {
			case <-changed:
			case <-time.After(r.window(idleWindow)):
			case <-waiting.Done():
			}
			continue
		case r.injector.Release(): // the fault has more steps
			continue
		case err != nil && waiting.Err() == nil: // idleTimeout expired, but not the timeout of the run
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

// waitSettled waits until the operator is idle and no object changes. It gives up after idleTimeout, or twice the
// window if that is longer.
func (r *run) waitSettled(ctx context.Context, learning bool) error {
	window := r.window(settleWindow)
	if learning {
		window = max(2*settleWindow, slowFactor*r.injector.Requests.Requests().Slowest())
	}
	held, cancel := context.WithTimeout(ctx, max(idleTimeout, 2*window))
	defer cancel()
	return r.waitIdle(held, window)
}

// waitIdle waits until the operator has sent no request and no object has changed for the given window.
func (r *run) waitIdle(ctx context.Context, window time.Duration) error {
	return r.injector.WaitIdle(ctx, r.env.history, window, r.isActivity)
}

// isActivity reports whether a request means that the operator is not idle.
func (r *run) isActivity(request record.Request) bool {
	return request.IsActivity() && (request.IsWrite() || !r.polls)
}

// travelsTooSoon reports whether a time travel is pending but the operator has not yet reached the expected state. An
// operator that polls with a delay looks idle between two polls.
func (r *run) travelsTooSoon(compare func(oracle.Snapshot) error) bool {
	return r.fault.Category() == fault.TimeTravels && r.injector.TriggeredAt().IsZero() && r.injector.IsPending() && compare(r.snapshot()) != nil
}

// linger waits for the awaited difference for up to r.limit. If the difference also appears without the fault, only
// later than the reference run ended, the fault did not cause it.
func (r *run) linger(ctx context.Context, compare func(oracle.Snapshot) error) error {
	waiting, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	since := time.Now()
	defer func() { r.lingered = append(r.lingered, fault.Delay{From: since, To: time.Now()}) }()
	for {
		changed, _ := r.env.history.Changed(r.namespace)
		settled := r.env.history.WaitStable(waiting, r.namespace, settleWindow) == nil
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

// endWatches periodically disconnects all watches until ctx is canceled.
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
