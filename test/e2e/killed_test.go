package e2e

import (
	"context"
	"errors"
	"sync"
	"time"

	"sigs.k8s.io/e2e-framework/pkg/types"

	"github.com/operator-assay/assay/test/harness/scenario"
)

// killedTogether are scenarios in the middle of which the operator is killed. All of them share one
// death: each plays up to its last action and waits for the others; then all act at once, and the
// operator is killed while it has all of that to do. The next one has to wait until the Lease of the
// dead has expired, as after any crash. To kill at every place there is, is the fault explorer's affair.
func killedTogether(all []scenario.Scenario) []types.Feature {
	gathering, death := newMeeting(nil), newMeeting(func(ctx context.Context) error {
		return errors.Join(assay.Undisturbed(ctx), assay.KillLeader(ctx))
	})
	var made []types.Feature
	for _, s := range all {
		name := s.Name
		gather := scenario.Step{Name: "OthersAreAsFar", Run: func(ctx context.Context, _ *scenario.Env) error { return gathering.arrive(ctx, name) }}
		die := scenario.Step{Name: "OperatorIsKilled", Run: func(ctx context.Context, _ *scenario.Env) error { return death.arrive(ctx, name) }}
		if name == healService {
			s = s.InsertAroundLastAction([]scenario.Step{gather, die}, nil)
		} else {
			s = s.InsertAroundLastAction([]scenario.Step{gather}, []scenario.Step{die})
		}
		s.Name += "/killed"
		if inFocus(s.Name) {
			gathering.await(name)
			death.await(name)
		}
		// Nobody waits for a place meanwhile: all have to meet.
		made = append(made, feature(s, nil, func() { gathering.miss(name); death.miss(name) }))
	}
	return made
}

// healService is the story in which the operator is dead already when the Service is deleted. Were it
// killed while it creates the Service anew, the API server might lose track of the node port: one that
// was allocated for a client that has gone stays allocated, until some ten minutes later a repair loop
// of the API server's finds it leaked. No operator can help that.
const healService = "webserver/heal-service"

// inFocus tells whether FOCUS selects a scenario.
func inFocus(name string) bool {
	focus := environment.EnvConf().FeatureRegex()
	return focus == nil || focus.MatchString(name)
}

// meeting is where scenarios wait for one another. When all that are awaited have come, or are known
// not to come any more, it acts once for all.
type meeting struct {
	act     func(context.Context) error
	mu      sync.Mutex
	awaited map[string]bool
	over    chan struct{}
	err     error // to be read when it is over
}

func newMeeting(act func(context.Context) error) *meeting {
	return &meeting{act: act, awaited: map[string]bool{}, over: make(chan struct{})}
}

func (m *meeting) await(name string) { m.awaited[name] = true }

func (m *meeting) arrive(ctx context.Context, name string) error {
	m.strike(ctx, name)
	select {
	case <-m.over:
		return m.err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(2 * patience()):
		return errors.New("the other scenarios did not get as far as this")
	}
}

// miss tells that one will not come, or has come before.
func (m *meeting) miss(name string) { m.strike(context.Background(), name) }

// strike takes a name off the list. Who is the last to come acts; where the last does not come, there
// may be nobody left to act for, but those who wait are not kept.
func (m *meeting) strike(ctx context.Context, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.awaited[name] {
		return
	}
	delete(m.awaited, name)
	if len(m.awaited) > 0 {
		return
	}
	switch {
	case ctx.Err() != nil:
		m.err = context.Cause(ctx)
	case m.act != nil:
		m.err = m.act(ctx)
	}
	close(m.over)
}
