package explore

import (
	"context"
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// waitSettled waits until the operator is idle and no object changes. It gives up after idleTimeout or twice the
// window, whichever is longer.
func (w *waiter) waitSettled(ctx context.Context) error {
	window := w.window(settleWindow)
	if w.learningWindow > 0 {
		window = max(2*settleWindow, slowFactor*w.injector.Requests.Requests().Slowest())
	}
	bounded, cancel := context.WithTimeout(ctx, max(idleTimeout, 2*window))
	defer cancel()
	return w.waitIdle(bounded, window)
}

// waitForStep waits until the operator is idle, so that the next step of a fault can run. It returns nil if the
// operator is not idle within idleTimeout.
func (w *waiter) waitForStep(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, idleTimeout)
	defer cancel()
	if err := w.waitIdle(bounded, w.window(idleWindow)); ctx.Err() != nil {
		return err
	}
	return nil
}

func (w *waiter) waitIdle(ctx context.Context, window time.Duration) error {
	return w.injector.WaitIdle(ctx, w.history, window, w.isActivity)
}

func (w *waiter) isActivity(request record.Request) bool {
	return request.IsActivity() && (request.IsWrite() || !w.polls)
}

// window returns how long the operator must be idle. This is the given duration, or 1.5 times the longest pause in the
// reference if that is longer.
func (w *waiter) window(atLeast time.Duration) time.Duration {
	return max(atLeast, w.pause*3/2)
}

// learnPause waits until nothing has changed for the learningWindow, and records the longest pause before that. It
// returns false if the operator is not idle within idleTimeout.
func (w *waiter) learnPause(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, idleTimeout)
	defer cancel()
	start := time.Now()
	if w.waitIdle(ctx, w.learningWindow) != nil {
		return false
	}
	activity := w.requestsSince(start)
	for _, version := range w.history.Versions(w.namespace) {
		if !version.Time.Before(start) {
			activity = append(activity, span{version.Time, version.Time})
		}
	}
	if pause := longestPause(start, activity); pause > shortPause {
		w.timing.pause = max(w.timing.pause, pause)
	}
	w.timing.exclude(time.Now().Add(-w.learningWindow))
	return true
}

// requestsSince returns the requests that count as activity and ended after start.
func (w *waiter) requestsSince(start time.Time) []span {
	var all []span
	for _, request := range w.injector.Requests.Requests(w.isActivity) {
		if !request.Ended.Before(start) {
			all = append(all, span{request.Time, request.Ended})
		}
	}
	return all
}

// span is the time between a request and its response, or the time of a change to an object.
type span struct{ from, to time.Time }

// longestPause returns the longest gap before the first span or between spans.
func longestPause(start time.Time, all []span) time.Duration {
	slices.SortFunc(all, func(a, b span) int { return a.from.Compare(b.from) })
	var longest time.Duration
	for _, next := range all {
		longest = max(longest, next.from.Sub(start))
		if next.to.After(start) {
			start = next.to
		}
	}
	return longest
}
