package explore

import (
	"context"
	"time"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

// waiter waits until the operator of a run is idle and its objects no longer change.
type waiter struct {
	injector  *fault.Injector
	history   *record.History
	namespace string
	timing    *timing
	// pause is the operator's longest pause in the reference.
	pause time.Duration
	// polls is true if the operator polls. The reads of a polling operator do not count as activity.
	polls bool
	limit time.Duration
	// learningWindow is how long the operator must stay idle at the end of the run. It is zero if there is a reference.
	learningWindow time.Duration
	// timeTravels is true if the fault moves the operator's view back to an older state.
	timeTravels bool
	// awaited is conditions.awaited.
	awaited      *verdict.Deviation
	awaitedFound bool
}

// converge waits for the expected state. If w.awaited is a difference from this state, it then also waits for that
// difference.
func (w *waiter) converge(ctx context.Context, expected *verdict.Expected, differing string) (unstable, differs error) {
	compare := func(state oracle.Snapshot) error { return expected.Compare(differing, state) }
	unstable, differs = w.waitConverged(ctx, compare)
	if unstable == nil && differs == nil && w.awaited != nil && w.awaited.Expected == expected {
		differs = w.waitForDifference(ctx, compare)
	}
	return unstable, differs
}

// waitConverged waits until no object changes, the operator is idle and the state matches the expected one. The
// comparison is needed because an operator on a slow machine may be idle before it is done.
func (w *waiter) waitConverged(ctx context.Context, compare func(oracle.Snapshot) error) (unstable, differs error) {
	waiting, cancel := context.WithTimeout(ctx, w.limit)
	defer cancel()
	start := time.Now()
	for {
		changed, last := w.history.Changed(w.namespace)
		var err error
		if w.learningWindow == 0 || !w.learnPause(waiting) {
			err = w.waitSettled(waiting)
		}
		switch {
		case err == nil && time.Since(start) < idleTimeout && w.travelsTooSoon(compare):
			select {
			case <-changed:
			case <-time.After(w.window(idleWindow)):
			case <-waiting.Done():
			}
			continue
		case w.injector.Release(): // the fault has more steps
			continue
		case err != nil && waiting.Err() == nil: // idleTimeout expired, but not the timeout of the run
			continue
		case err != nil:
			return err, nil
		}
		differs = compare(w.snapshot())
		var notFinal <-chan time.Time
		if differs == nil {
			if notFinal = w.notFinal(last); notFinal == nil {
				w.timing.note(convergence, start, w.injector)
				return nil, nil
			}
		}
		idleSince := time.Now()
		select {
		case <-changed:
		case <-notFinal:
		case <-waiting.Done():
			w.timing.exclude(idleSince)
			return nil, differs
		}
	}
}

func (w *waiter) snapshot() oracle.Snapshot {
	return oracle.NewSnapshot(w.namespace, w.history.Objects(w.namespace))
}

// travelsTooSoon reports whether a pending time-travel fault must wait because the operator has not reached the
// expected state. An operator that polls looks idle between polls, even if it has more work to do.
func (w *waiter) travelsTooSoon(compare func(oracle.Snapshot) error) bool {
	return w.timeTravels && w.injector.TriggeredAt().IsZero() && w.injector.IsPending() && compare(w.snapshot()) != nil
}

// waitForDifference waits until the state contains w.awaited, up to the limit. The run is fault-free, so if the
// difference appears, the fault did not cause it.
func (w *waiter) waitForDifference(ctx context.Context, compare func(oracle.Snapshot) error) error {
	waiting, cancel := context.WithTimeout(ctx, w.limit)
	defer cancel()
	since := time.Now()
	defer func() { w.timing.exclude(since) }()
	for {
		changed, _ := w.history.Changed(w.namespace)
		settled := w.history.WaitStable(waiting, w.namespace, settleWindow) == nil
		state := w.snapshot()
		if settled && w.awaited.OccursIn(state) {
			w.awaitedFound = true
			return compare(state)
		}
		select {
		case <-changed:
		case <-waiting.Done():
			return nil
		}
	}
}

// notFinal returns nil if no further changes are expected. If a Kubernetes controller may still change the state, it
// returns a channel that fires when the timeout for that change expires. In a run without a reference, it returns a
// channel that never fires while an object has finalizers that the operator should remove.
func (w *waiter) notFinal(lastChange time.Time) <-chan time.Time {
	var left time.Duration
	objects := w.history.Objects(w.namespace)
	if w.learningWindow > 0 && len(oracle.StuckDeletions(w.namespace, scenario.User, objects)) > 0 {
		return make(chan time.Time)
	}
	if isUnderway(objects) {
		left = observationTimeout - time.Since(lastChange)
	}
	if isBeingCollected(w.history.Versions(w.namespace)) {
		left = max(left, collectionTimeout-time.Since(lastChange))
	}
	if left <= 0 {
		return nil
	}
	return time.After(left)
}
