package wait

import (
	"context"
	"errors"

	"github.com/onsi/gomega/types"
)

// Match is a check by a Gomega matcher of what read returns. Its error is that of read, or the matcher's message.
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
