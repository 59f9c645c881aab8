// Package wait waits for a state. The caller provides a check that returns an error until the state is reached. The
// check runs again when a watch reports a change (record.History.WaitFor). If the state cannot be watched, the check
// runs periodically (Poll). If the wait fails, its error wraps the check's last error.
package wait

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/onsi/gomega/types"
)

// Signal returns a channel that is closed or receives a value when the check should run again. The function For calls
// Signal before each check, so that it does not miss a change during the check.
type Signal func() <-chan struct{}

// Poll returns a Signal that fires at a fixed interval. Use it only for states that cannot be watched.
func Poll(interval time.Duration) Signal {
	return func() <-chan struct{} {
		next := make(chan struct{})
		time.AfterFunc(interval, func() { close(next) })
		return next
	}
}

// For runs the check immediately, after every signal, and one last time when the timeout expires. It returns nil as
// soon as the check succeeds. Otherwise, it returns an error that wraps the check's last error and, if ctx was done
// first, the cause. A timeout of 0 means no timeout. For returns immediately if the check returns an error marked by
// Stop.
func For(ctx context.Context, timeout time.Duration, again Signal, check func(context.Context) error) error {
	start := time.Now()
	var expired <-chan time.Time
	if timeout > 0 {
		expired = time.After(timeout)
	}
	var seen error // the last error that was not caused by ctx being done
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
			return fmt.Errorf("%w; last error: %w", context.Cause(ctx), seen)
		}
		if last {
			return fmt.Errorf("after %s: %w", time.Since(start).Round(time.Second/10), seen)
		}
		select {
		case <-next:
		case <-ctx.Done():
			return fmt.Errorf("%w; last error: %w", context.Cause(ctx), seen)
		case <-expired:
			last = true // check once more, because a broken watch may have lost a signal
		}
	}
}

// Stop marks an error as permanent, so that For does not run the check again.
func Stop(err error) error { return stopError{err} }

type stopError struct{ error }

func (e stopError) Unwrap() error { return e.error }

// Match returns a check for use with For. The check calls read and compares the result with the matcher.
func Match[T any](read func(context.Context) (T, error), matcher types.GomegaMatcher) func(context.Context) error {
	return func(ctx context.Context) error {
		actual, err := read(ctx)
		if err != nil {
			return err
		}
		matched, err := matcher.Match(actual)
		if err != nil {
			return err
		}
		if !matched {
			return errors.New(matcher.FailureMessage(actual))
		}
		return nil
	}
}
