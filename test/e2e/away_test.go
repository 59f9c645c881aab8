package e2e

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/operator-assay/assay/test/harness/scenario"
)

// What holds while the operator is away or dies.

// operatorAway changes and breaks things while no operator runs, which the next one has to find out.
func operatorAway() scenario.Scenario {
	k := catalogue.WebServer
	return k.Tell("operator-away",
		k.ApplySample(),
		k.PodsAreReady(3),
		operatorsRun(0),
		k.ScaleTo(4),
		k.DeleteService(),
		operatorsRun(1),
		k.PodsAreReady(4),
		k.ServiceIsRestored(),
		k.StatusNamesThePods(),
	)
}

// deletedWhileAway needs no operator: there is no finalizer to wait for.
func deletedWhileAway() scenario.Scenario {
	k := catalogue.Memcached
	return k.Tell("operator-away",
		k.ApplySample(),
		k.PodsAreReady(3),
		operatorsRun(0),
		k.Delete(),
		k.NothingIsLeft(),
		operatorsRun(1),
	)
}

// leaderKilled has another replica take over when the Lease of the dead leader has expired.
func leaderKilled() scenario.Scenario {
	k := catalogue.WebServer
	return k.Tell("leader-killed",
		k.ApplySample(),
		k.PodsAreReady(3),
		operatorsRun(2),
		scenario.Step{Name: "LeaderIsKilled", Run: func(ctx context.Context, _ *scenario.World) error { return assay.KillLeader(ctx) }},
		k.DeleteService(),
		k.ServiceIsRestored(),
		k.StatusNamesThePods(),
		operatorsRun(1),
	)
}

func operatorsRun(replicas int) scenario.Step {
	return scenario.Step{Name: fmt.Sprintf("OperatorsRun(%d)", replicas), Run: func(ctx context.Context, _ *scenario.World) error {
		return assay.Scale(ctx, replicas)
	}}
}

// killedInTheMiddle are scenarios in which the operator is killed just after the last action. All of
// them share one death: each plays up to there, and goes on when the operator is gone and another has
// been started. The new one has to wait until the Lease of the dead has expired, as after any crash.
func killedInTheMiddle(all []scenario.Scenario) []scenario.Scenario {
	death := &meeting{act: func(ctx context.Context) error { return assay.KillLeader(ctx) }, over: make(chan struct{})}
	var killed []scenario.Scenario
	for _, s := range all {
		s = s.AfterLastAction(scenario.Step{Name: "OperatorIsKilled", Run: func(ctx context.Context, _ *scenario.World) error {
			<-places // who waits for the others leaves its place to them
			defer func() { places <- struct{}{} }()
			return death.arrive(ctx)
		}})
		s.Name += "/killed"
		for i, step := range s.Steps {
			s.Steps[i].Run = func(ctx context.Context, w *scenario.World) error {
				err := step.Run(ctx, w)
				if err != nil {
					death.miss(ctx)
				}
				return err
			}
		}
		if inFocus(s.Name) {
			death.expected++
		}
		killed = append(killed, s)
	}
	return killed
}

// inFocus tells whether FOCUS selects a scenario.
func inFocus(name string) bool {
	focus := environment.EnvConf().FeatureRegex()
	return focus == nil || focus.MatchString(name)
}

// meeting is where scenarios wait for one another. When all that are expected have come or are known
// not to, it acts once for all.
type meeting struct {
	act      func(context.Context) error
	mu       sync.Mutex
	expected int
	over     chan struct{}
	err      error
}

func (m *meeting) arrive(ctx context.Context) error {
	m.count(ctx)
	select {
	case <-m.over:
		return m.err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(2 * patience()):
		return errors.New("the other scenarios did not get as far as this")
	}
}

// miss tells that somebody who was expected will not come, or has come before.
func (m *meeting) miss(ctx context.Context) {
	select {
	case <-m.over:
	default:
		m.count(ctx)
	}
}

func (m *meeting) count(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.expected--; m.expected == 0 {
		m.err = m.act(ctx)
		close(m.over)
	}
}
