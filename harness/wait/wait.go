// Package wait is the one way in which this repository waits for a state: a check that returns an error until
// the state is reached. The check runs again when something has changed, as a watch reports it
// (record.History.WaitFor), and by the clock only for states that no watch reports (Poll). When the wait ends
// without the state, its error is the last one of the check, so it says what was seen last.
package wait

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Signal returns a channel that is closed, or receives, when the check is worth running again. It is called
// before each check, so that no change between the check and the wait is lost.
type Signal func() <-chan struct{}

// Poll signals every interval: for states that no watch reports, such as what a port answers.
func Poll(interval time.Duration) Signal {
	return func() <-chan struct{} {
		next := make(chan struct{})
		time.AfterFunc(interval, func() { close(next) })
		return next
	}
}

// For runs check until it returns nil: at once, at every signal, and once more at the end of timeout. It returns
// nil then. Otherwise the error wraps that of the last check, and says how long it waited or, when ctx ended
// first, why ctx ended. A timeout of 0 leaves the end to ctx. An error marked by Stop is returned at once.
func For(ctx context.Context, timeout time.Duration, again Signal, check func(context.Context) error) error {
	start := time.Now()
	var expired <-chan time.Time
	if timeout > 0 {
		expired = time.After(timeout)
	}
	var seen error // by a check that the end of ctx did not cut off
	for last := false; ; {
		next := again()
		err := check(ctx)
		if err == nil {
			return nil
		}
		if stop, ok := errors.AsType[stopError](err); ok {
			return stop.error
		}
		if seen == nil || ctx.Err() == nil {
			seen = err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%w, when %w", context.Cause(ctx), seen)
		}
		if last {
			return fmt.Errorf("after %s: %w", time.Since(start).Round(time.Second/10), seen)
		}
		select {
		case <-next:
		case <-ctx.Done():
			return fmt.Errorf("%w, when %w", context.Cause(ctx), seen)
		case <-expired:
			last = true // a signal may have been lost with its watch
		}
	}
}

// Stop marks an error of a check as final: no later check would succeed.
func Stop(err error) error { return stopError{err} }

type stopError struct{ error }

func (e stopError) Unwrap() error { return e.error }
