package explore

import (
	"context"
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// waitSettled waits until the operator is idle and no objects are changing. It gives up after idleTimeout or twice the
// window, whichever is longer.
func (r *run) waitSettled(ctx context.Context) error {
	window := r.window(settleWindow)
	if r.isLearning() {
		window = max(2*settleWindow, slowFactor*r.recording.injector.Requests.Requests().Slowest())
	}
	bounded, cancel := context.WithTimeout(ctx, max(idleTimeout, 2*window))
	defer cancel()
	return r.waitIdle(bounded, window)
}

// waitForStep waits until the operator is idle, so that the next step of a fault can run. It returns nil if the
// operator is not idle within idleTimeout.
func (r *run) waitForStep(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, idleTimeout)
	defer cancel()
	if err := r.waitIdle(bounded, r.window(idleWindow)); ctx.Err() != nil {
		return err
	}
	return nil
}

func (r *run) waitIdle(ctx context.Context, window time.Duration) error {
	return r.recording.injector.WaitIdle(ctx, r.env.history, window, r.isActivity)
}

func (r *run) isActivity(request record.Request) bool {
	return request.IsActivity() && (request.IsWrite() || !r.attempt.against.polls.Load())
}

// window returns how long the operator must be idle. This is the given duration, or 1.5 times the longest pause in the
// reference if that is longer.
func (r *run) window(atLeast time.Duration) time.Duration {
	return max(atLeast, r.attempt.against.pause*3/2)
}

// learnPause waits until nothing has changed for the learningWindow, and records the longest pause before that. It
// returns false if the operator is not idle within idleTimeout.
func (r *run) learnPause(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, idleTimeout)
	defer cancel()
	start := time.Now()
	if r.waitIdle(ctx, r.player.learningWindow) != nil {
		return false
	}
	var activity []span
	for _, request := range r.recording.injector.Requests.Requests(r.isActivity) {
		if !request.Ended.Before(start) {
			activity = append(activity, span{request.Time, request.Ended})
		}
	}
	for _, version := range r.env.history.Versions(r.recording.namespace) {
		if !version.Time.Before(start) {
			activity = append(activity, span{version.Time, version.Time})
		}
	}
	if pause := longestPause(start, activity); pause > shortPause {
		r.recording.timing.pause = max(r.recording.timing.pause, pause)
	}
	r.recording.timing.exclude(time.Now().Add(-r.player.learningWindow))
	return true
}

// span lasts from a request to its response. For a change to an object, from and to are equal.
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
