package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const requestsShown = 20

// ErrNotIdle is wrapped by the errors of WaitIdle.
var ErrNotIdle = errors.New("not idle")

// WaitIdle waits until the operator has sent no requests for the whole window, and none is in flight. Watches and Lease
// requests do not count. Filters limit the requests that count, for example to a namespace.
//
// The window starts no earlier than the call, because the operator may still have to react to watch events that it
// has already received. If ctx is done first, the error lists the latest requests.
func (r *Recorder) WaitIdle(ctx context.Context, window time.Duration, filters ...Filter) error {
	return r.WaitIdleAnd(ctx, window, func() time.Time { return time.Time{} }, filters...)
}

// WaitIdleAnd is like WaitIdle, but also waits for other activities to stop. last returns the time of the latest
// activity.
func (r *Recorder) WaitIdleAnd(ctx context.Context, window time.Duration, last func() time.Time, filters ...Filter) error {
	start := time.Now()
	filters = append(slices.Clone(filters), Request.IsActivity)
	err := waitQuiet(ctx, window, func() time.Time { return later(last(), r.lastAnswer(filters)) })
	if err == nil {
		return nil
	}
	noise := r.Requests(append(filters, func(r Request) bool { return r.IsInFlight() || r.Ended.After(start) })...)
	return fmt.Errorf("%w for %s: %w; %d requests since %s, the latest:\n%s",
		ErrNotIdle, window, err, len(noise), start.Format(timeFormat), noise[max(0, len(noise)-requestsShown):])
}

// waitQuiet waits until there has been no activity for the whole window. The window starts no earlier than the call.
// last returns the time of the latest activity, or the current time if an activity is still in progress.
func waitQuiet(ctx context.Context, window time.Duration, last func() time.Time) error {
	for since := time.Now(); ; {
		since = later(since, last())
		remaining := time.Until(since.Add(window))
		if remaining <= 0 {
			return nil
		}
		select {
		case <-time.After(remaining):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (r *Recorder) lastAnswer(filters []Filter) (last time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, request := range r.requests {
		switch {
		case !keeps(filters, *request):
		case request.IsInFlight():
			return time.Now()
		default:
			last = later(last, request.Ended)
		}
	}
	return last
}

// IsActivity reports whether the request is neither a watch nor a request for a Lease.
func (r Request) IsActivity() bool { return r.Verb != "watch" && !r.IsLease() }
