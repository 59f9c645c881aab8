package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// requestsShown is how many of the latest requests an error lists.
const requestsShown = 20

// ErrNotIdle is what the error of WaitIdle wraps.
var ErrNotIdle = errors.New("not idle")

// WaitIdle waits until, for a whole window, no request but watches and Lease renewals is sent or under way; each such
// request starts the window again. An operator that has converged sends none: its cache answers its reads. When ctx
// ends first, the error lists the latest requests since the call. Filters narrow what counts, for example to a
// namespace.
//
// The first window begins with the call, not with the last request, because events that the operator is just
// receiving may cause requests.
func (r *Recorder) WaitIdle(ctx context.Context, window time.Duration, filters ...Filter) error {
	return r.WaitIdleSince(ctx, time.Now(), window, filters...)
}

// WaitIdleSince is WaitIdle with a first window that began earlier.
func (r *Recorder) WaitIdleSince(ctx context.Context, start time.Time, window time.Duration, filters ...Filter) error {
	filters = append(slices.Clone(filters), endsAfter(start), Request.IsActivity)
	quiet := time.NewTimer(time.Until(start.Add(window)))
	defer quiet.Stop()
	for {
		noise, changed := r.watch(filters)
		if last, busy := lastAnswered(noise); busy {
			quiet.Stop()
		} else if last.After(start) {
			quiet.Reset(time.Until(last.Add(window)))
		}
		select {
		case <-quiet.C:
			return nil
		case <-changed:
		case <-ctx.Done():
			latest := noise[max(0, len(noise)-requestsShown):]
			return fmt.Errorf("%w for %s: %w; %d requests since %s, the latest:\n%s",
				ErrNotIdle, window, ctx.Err(), len(noise), start.Format(timeFormat), latest)
		}
	}
}

// lastAnswered returns when the last of the requests was answered, and whether one is still under way.
func lastAnswered(requests Requests) (last time.Time, busy bool) {
	for _, request := range requests {
		if !request.Answered {
			return last, true
		}
		if end := request.Time.Add(request.Duration); end.After(last) {
			last = end
		}
	}
	return last, false
}

func endsAfter(start time.Time) Filter {
	return func(r Request) bool { return !r.Answered || r.Time.Add(r.Duration).After(start) }
}

// IsActivity tells whether a request counts as activity: it is no watch, and not about a Lease. Writes of Events count.
func (r Request) IsActivity() bool {
	return r.Verb != "watch" && !r.IsLease()
}
