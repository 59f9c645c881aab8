package wait

import (
	"context"
	"errors"

	"github.com/onsi/gomega/types"
)

// Match returns a check that calls read and compares the value with matcher. Pass the check to For.
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
