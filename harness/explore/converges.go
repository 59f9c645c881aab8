package explore

import (
	"context"
	"time"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

func (r *run) converge(ctx context.Context, expected *verdict.Expected, differing string) (unstable, differs error) {
	compare := func(state oracle.Snapshot) error { return expected.Compare(differing, state) }
	unstable, differs = r.waitConverged(ctx, compare)
	if unstable == nil && differs == nil && r.attempt.conditions.awaited != nil && r.attempt.conditions.awaited.Expected == expected {
		differs = r.waitForDifference(ctx, compare)
	}
	return unstable, differs
}

// waitConverged waits until no object changes, the operator is idle and the state matches the expected one. The
// comparison is needed because an operator on a slow machine may be idle before it is done.
func (r *run) waitConverged(ctx context.Context, compare func(oracle.Snapshot) error) (unstable, differs error) {
	waiting, cancel := context.WithTimeout(ctx, r.limit())
	defer cancel()
	start := time.Now()
	for {
		changed, last := r.env.history.Changed(r.recording.namespace)
		var err error
		if !r.isLearning() || !r.learnPause(waiting) {
			err = r.waitSettled(waiting)
		}
		switch {
		case err == nil && time.Since(start) < idleTimeout && r.travelsTooSoon(compare):
			select {
			case <-changed:
			case <-time.After(r.window(idleWindow)):
			case <-waiting.Done():
			}
			continue
		case r.recording.injector.Release(): // the fault has more steps
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
				r.recording.timing.note(convergence, start, r.recording.injector)
				return nil, nil
			}
		}
		idleSince := time.Now()
		select {
		case <-changed:
		case <-notFinal:
		case <-waiting.Done():
			r.recording.timing.exclude(idleSince)
			return nil, differs
		}
	}
}

func (r *run) snapshot() oracle.Snapshot {
	return oracle.NewSnapshot(r.recording.namespace, r.env.history.Objects(r.recording.namespace))
}

// travelsTooSoon reports whether a pending time-travel fault must wait because the operator has not reached the
// expected state. An operator that polls looks idle between polls, even if its work is unfinished.
func (r *run) travelsTooSoon(compare func(oracle.Snapshot) error) bool {
	return r.attempt.fault.Category() == fault.TimeTravels && r.recording.injector.TriggeredAt().IsZero() && r.recording.injector.IsPending() && compare(r.snapshot()) != nil
}

// waitForDifference waits until the state of a fault-free run shows the difference in conditions.awaited, which was
// found in the failed run. If the difference appears, the fault did not cause it.
func (r *run) waitForDifference(ctx context.Context, compare func(oracle.Snapshot) error) error {
	waiting, cancel := context.WithTimeout(ctx, r.limit())
	defer cancel()
	since := time.Now()
	defer func() { r.recording.timing.exclude(since) }()
	for {
		changed, _ := r.env.history.Changed(r.recording.namespace)
		settled := r.env.history.WaitStable(waiting, r.recording.namespace, settleWindow) == nil
		state := r.snapshot()
		if settled && r.attempt.conditions.awaited.OccursIn(state) {
			r.recording.outcome.awaitedFound = true
			return compare(state)
		}
		select {
		case <-changed:
		case <-waiting.Done():
			return nil
		}
	}
}

// notFinal returns nil if the state is final. If a Kubernetes controller may still change the state, it returns a
// channel that fires after a timeout. If the operator still has to remove a finalizer and there is no reference yet,
// notFinal returns a channel that never fires.
func (r *run) notFinal(lastChange time.Time) <-chan time.Time {
	var left time.Duration
	objects := r.env.history.Objects(r.recording.namespace)
	if r.isLearning() && len(oracle.StuckDeletions(r.recording.namespace, scenario.User, objects)) > 0 {
		return make(chan time.Time)
	}
	if isUnderway(objects) {
		left = observationTimeout - time.Since(lastChange)
	}
	if isBeingCollected(r.env.history.Versions(r.recording.namespace)) {
		left = max(left, collectionTimeout-time.Since(lastChange))
	}
	if left <= 0 {
		return nil
	}
	return time.After(left)
}
