package e2e

import (
	"context"
	"errors"
	"sync"
	"time"

	"sigs.k8s.io/e2e-framework/pkg/types"

	"github.com/operator-assay/assay/test/harness/scenario"
)

// crashScenarios are scenarios in the middle of which the operator is killed. All of them share one crash: each runs up to
// its last action and waits for the others; then all act at once, and the operator is killed while it has all of that to do.
// The next one has to wait until the Lease of the dead one has expired, as after any crash. The explorer is what kills it at
// every other place.
func crashScenarios(all []scenario.Scenario) []types.Feature {
	lastAction, crash := newBarrier(nil), newBarrier(func(ctx context.Context) error {
		return errors.Join(operator.Undisturbed(ctx), operator.KillLeader(ctx))
	})
	var made []types.Feature
	for _, s := range all {
		name := s.Name
		waitForOthers := scenario.Step{Name: "OthersAreAsFar", Run: func(ctx context.Context, _ *scenario.Env) error { return lastAction.arrive(ctx, name) }}
		killOperator := scenario.Step{Name: "OperatorIsKilled", Run: func(ctx context.Context, _ *scenario.Env) error { return crash.arrive(ctx, name) }}
		if name == healService {
			s = s.InsertAroundLastAction([]scenario.Step{waitForOthers, killOperator}, nil)
		} else {
			s = s.InsertAroundLastAction([]scenario.Step{waitForOthers}, []scenario.Step{killOperator})
		}
		s.Name += "/killed"
		if focused(s.Name) {
			lastAction.expect(name)
			crash.expect(name)
		}
		// They need no slots: all have to meet.
		made = append(made, feature(s, nil, func() { lastAction.leave(name); crash.leave(name) }))
	}
	return made
}

// healService is the scenario in which the operator is killed before the Service is deleted. If it were killed while it creates
// the Service again, the API server might leak the node port: one that was allocated for a client that is gone stays
// allocated until a repair loop of the API server finds it, about ten minutes later.
const healService = "webserver/heal-service"

// focused tells whether FOCUS selects a scenario.
func focused(name string) bool {
	focus := environment.EnvConf().FeatureRegex()
	return focus == nil || focus.MatchString(name)
}

// barrier is where scenarios wait for one another. When all that are expected have arrived, or are known not to arrive any
// more, it acts once for all.
type barrier struct {
	act      func(context.Context) error
	mu       sync.Mutex
	expected map[string]bool
	done     chan struct{}
	err      error // to be read when it is done
}

func newBarrier(act func(context.Context) error) *barrier {
	return &barrier{act: act, expected: map[string]bool{}, done: make(chan struct{})}
}

func (b *barrier) expect(name string) { b.expected[name] = true }

func (b *barrier) arrive(ctx context.Context, name string) error {
	b.remove(ctx, name)
	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(barrierTimeout()):
		return errors.New("the other scenarios did not get as far as this")
	}
}

// leave tells that one will not arrive, or has arrived before.
func (b *barrier) leave(name string) { b.remove(context.Background(), name) }

// remove takes a name off the list. The last one to arrive acts; where the last one does not arrive, there may be nobody left
// to act for, but those who wait are released.
func (b *barrier) remove(ctx context.Context, name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.expected[name] {
		return
	}
	delete(b.expected, name)
	if len(b.expected) > 0 {
		return
	}
	switch {
	case ctx.Err() != nil:
		b.err = context.Cause(ctx)
	case b.act != nil:
		b.err = b.act(ctx)
	}
	close(b.done)
}
