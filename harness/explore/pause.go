package explore

import (
	"context"
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/fault"
)

const (
	// defaultLearningWindow is longer than operators commonly pause between two looks at what they wait for.
	defaultLearningWindow = 2500 * time.Millisecond
	// shortPause is up to which length a pause tells nothing of the operator: a slow machine makes such ones, too.
	shortPause = 2 * settleWindow
)

// window is how long nothing may change until an operator counts as idle: at least the given time, and half as long again
// as it has paused in the reference.
func (r *run) window(atLeast time.Duration) time.Duration {
	return max(atLeast, r.against.pause*3/2)
}

// learnPause waits until nothing changes for the learningWindow, and notes for how long nothing changed before that. It
// returns false if something changes again and again, until heldBound.
func (r *run) learnPause(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, heldBound)
	defer cancel()
	start := time.Now()
	if r.waitIdle(ctx, r.learningWindow) != nil {
		return false
	}
	if pause := longestPause(start, r.activitySince(start)); pause > shortPause {
		r.pause = max(r.pause, pause)
	}
	r.lingered = append(r.lingered, fault.Withheld{From: time.Now().Add(-r.learningWindow), To: time.Now()})
	return true
}

// span is the time from a request to its response, or of a change.
type span struct{ from, to time.Time }

// activitySince is what kept the operator from counting as idle since a time.
func (r *run) activitySince(start time.Time) []span {
	all := r.requestsSince(start)
	for _, version := range r.at.history.Versions(r.namespace) {
		if !version.Time.Before(start) {
			all = append(all, span{version.Time, version.Time})
		}
	}
	return all
}

// requestsSince is what the operator did since a time.
func (r *run) requestsSince(start time.Time) []span {
	var all []span
	for _, request := range r.injector.Requests.Requests(r.isActivity) {
		if end := request.Time.Add(request.Duration); !end.Before(start) {
			all = append(all, span{request.Time, end})
		}
	}
	return all
}

// longestPause is the longest time from a start to the first span, or between two of them.
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
