package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// requestsShown is how many of the requests that broke a silence an error lists.
const requestsShown = 20

// ErrNotIdle is what Silent's error is.
var ErrNotIdle = errors.New("not silent")

// WaitIdle waits until, for a whole window, no request but watches and lease renewals was sent or
// under way; each that is starts the window over. An operator that has converged owes nobody a
// request: its cache answers its reads. When ctx ends first, the error lists the latest requests
// since the call. Filters narrow what counts, to a namespace for instance.
//
// The first window begins with the call and not with the last request, so that what the operator
// is just being told is part of what it has to be silent about.
func (r *Recorder) WaitIdle(ctx context.Context, window time.Duration, filters ...Filter) error {
	start := time.Now()
	filters = append(slices.Clone(filters), endsAfter(start), Request.isActivity)
	quiet := time.NewTimer(window)
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

// lastAnswered returns when the last of the requests was answered, and whether one is still not.
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

// isActivity tells whether a converged operator has no reason for a request. Events are noise, too.
func (r Request) isActivity() bool {
	return r.Verb != "watch" && !r.IsLease()
}
