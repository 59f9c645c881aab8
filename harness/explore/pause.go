package explore

import (
	"context"
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/fault"
)

// window returns how long nothing may change before the operator counts as idle. It is at least the given duration,
// and one and a half times the longest pause in the reference.
func (r *run) window(atLeast time.Duration) time.Duration {
	return max(atLeast, r.against.pause*3/2)
}

// learnPause waits until nothing has changed for the learningWindow, and records the longest pause before that. It
// returns false if the operator is not idle within idleTimeout.
func (r *run) learnPause(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, idleTimeout)
	defer cancel()
	start := time.Now()
	if r.waitIdle(ctx, r.learningWindow) != nil {
		return false
	}
	if pause := longestPause(start, r.activitySince(start)); pause > shortPause {
		r.pause = max(r.pause, pause)
	}
	r.lingered = append(r.lingered, fault.Delay{From: time.Now().Add(-r.learningWindow), To: time.Now()})
	return true
}

// span is the interval from a request to its response, or the moment of a change.
type span struct{ from, to time.Time }

// activitySince returns the requests and changes since start that count as activity.
func (r *run) activitySince(start time.Time) []span {
	all := r.requestsSince(start)
	for _, version := range r.env.history.Versions(r.namespace) {
		if !version.Time.Before(start) {
			all = append(all, span{version.Time, version.Time})
		}
	}
	return all
}

func (r *run) requestsSince(start time.Time) []span {
	var all []span
	for _, request := range r.injector.Requests.Requests(r.isActivity) {
		if end := request.Time.Add(request.Duration); !end.Before(start) {
			all = append(all, span{request.Time, end})
		}
	}
	return all
}

// longestPause returns the longest gap before the first span or between two spans.
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
