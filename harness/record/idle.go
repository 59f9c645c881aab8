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

// WaitIdle waits until the operator has sent no requests for the length of window, and none is in flight. Watches and
// Lease requests do not count. Filters limit the requests that count, for example to a namespace.
//
// The window starts no earlier than the call, because the operator may still have to react to watch events that it
// has already received. If ctx is done first, the error lists the latest requests.
func (r *Recorder) WaitIdle(ctx context.Context, window time.Duration, filters ...Filter) error {
	return r.WaitIdleSince(ctx, time.Now(), window, filters...)
}

// WaitIdleSince is like WaitIdle, but the window starts no earlier than start, which may be in the past.
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

func lastAnswered(requests Requests) (last time.Time, busy bool) {
	for _, request := range requests {
		if request.IsInFlight() {
			return last, true
		}
		if request.Ended.After(last) {
			last = request.Ended
		}
	}
	return last, false
}

func endsAfter(start time.Time) Filter {
	return func(r Request) bool { return r.IsInFlight() || r.Ended.After(start) }
}

// IsActivity reports whether the request is neither a watch nor a request for a Lease.
func (r Request) IsActivity() bool {
	return r.Verb != "watch" && !r.IsLease()
}
