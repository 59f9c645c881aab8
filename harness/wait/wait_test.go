package wait_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/wait"
)

func never() <-chan struct{} { return nil }

func countTo(n int) func(context.Context) error {
	calls := 0
	return func(context.Context) error {
		if calls++; calls < n {
			return fmt.Errorf("%d of %d", calls, n)
		}
		return nil
	}
}

func TestForChecksImmediatelyAndOnSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, start := NewWithT(t), time.Now()
		g.Expect(wait.For(t.Context(), time.Minute, never, countTo(1))).To(Succeed())
		g.Expect(time.Since(start)).To(BeZero())
		g.Expect(wait.For(t.Context(), time.Minute, wait.Poll(time.Second), countTo(4))).To(Succeed())
		g.Expect(time.Since(start)).To(Equal(3 * time.Second))
	})
}

func TestForKeepsSignalDuringCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := make(chan struct{})
		state := countTo(2)
		err := wait.For(t.Context(), time.Minute, func() <-chan struct{} { return changed }, func(ctx context.Context) error {
			err := state(ctx)
			if err != nil {
				close(changed)
			}
			return err
		})
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
	})
}

func TestForReturnsLastError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(wait.For(t.Context(), 9500*time.Millisecond, wait.Poll(time.Second), countTo(99))).To(MatchError("after 9.5s: 11 of 99"))
		ctx, cancel := context.WithTimeoutCause(t.Context(), 2*time.Second, errors.New("interrupted"))
		defer cancel()
		g.Expect(wait.For(ctx, time.Minute, never, countTo(99))).To(MatchError("interrupted; last error: 1 of 99"))
	})
}

func TestForIgnoresErrorAfterCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 1500*time.Millisecond, errors.New("interrupted"))
		defer cancel()
		err := wait.For(ctx, time.Minute, wait.Poll(time.Second), func(ctx context.Context) error {
			if time.Sleep(time.Second); ctx.Err() != nil {
				return ctx.Err()
			}
			return errors.New("1 of 3 Pods are ready")
		})
		NewWithT(t).Expect(err).To(MatchError("interrupted; last error: 1 of 3 Pods are ready"))
	})
}

func TestForChecksAgainAtTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		NewWithT(t).Expect(wait.For(t.Context(), time.Minute, never, countTo(2))).To(Succeed(), "the check at the timeout must count")
	})
}

func TestForStopsAtPermanentError(t *testing.T) {
	final := errors.New("the process has exited")
	err := wait.For(t.Context(), time.Minute, never, func(context.Context) error { return wait.Stop(final) })
	NewWithT(t).Expect(err).To(BeIdenticalTo(final))
}

func TestMatchErrors(t *testing.T) {
	g := NewWithT(t)
	read := func(context.Context) (int, error) { return 2, nil }
	g.Expect(wait.Match(read, Equal(2))(t.Context())).To(Succeed())
	g.Expect(wait.Match(read, Equal(3))(t.Context())).To(MatchError(And(ContainSubstring("<int>: 2"), ContainSubstring("<int>: 3"))))
	broken := errors.New("not found")
	g.Expect(wait.Match(func(context.Context) (int, error) { return 0, broken }, Equal(2))(t.Context())).To(MatchError(broken))
}
