package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/e2e-framework/pkg/types"

	"github.com/operator-assay/assay/harness/scenario"
)

// crashScenarios returns the scenarios in which the operator crashes. They all share a single crash: each scenario
// waits before its last action until the others have reached theirs. Then all of them perform their last action, and
// the operator is killed while it is reconciling. On kind, the next leader has to wait until the old Lease expires. The
// fault explorer covers crashes at other points.
func crashScenarios(all []scenario.Scenario) []types.Feature {
	lastAction, end := newBarrier(nil), newBarrier(nil)
	crash := newBarrier(func(ctx context.Context) error {
		return errors.Join(operator.CheckRestarts(ctx), operator.KillLeader(ctx))
	})
	var crashed []scenario.Scenario
	for _, s := range all {
		name := s.Name + "/killed"
		before, after := []scenario.Step{lastAction.step("WaitForOtherScenarios", name)}, []scenario.Step{crash.step("OperatorIsKilled", name)}
		if s.Name == healService {
			before, after = append(before, after...), nil
		}
		s = s.InsertAroundLastAction(before, after)
		s.Name = name
		crashed = append(crashed, s)
	}
	crashed = append(crashed, leaderCrash(lastAction, crash, end))

	barriers := []*barrier{lastAction, crash, end}
	var made []types.Feature
	for _, s := range slices.DeleteFunc(crashed, coveredByKWOK) {
		for _, b := range barriers {
			if focused(s.Name) {
				b.expect(s.Name)
			}
		}
		// Do not limit the parallelism: all scenarios have to reach the barriers.
		made = append(made, feature(s, nil, func() {
			for _, b := range barriers {
				b.leave(s.Name)
			}
		}))
	}
	return made
}

func leaderCrash(lastAction, crash, end *barrier) scenario.Scenario {
	k := catalogue.WebServer
	const name = "webserver/leader-killed"
	return k.Scenario("leader-killed",
		k.ApplySample(),
		k.PodsAreReady(3),
		operatorsRun(2),
		lastAction.step("WaitForOtherScenarios", name),
		scenario.Step{Name: "RememberLeader", Run: rememberLeader},
		crash.step("OperatorIsKilled", name),
		k.DeleteService(),
		k.ServiceIsRestored(),
		scenario.Step{Name: "AnotherLeads", Run: anotherLeads},
		k.StatusNamesThePods(),
		end.step("WaitForEndOfOthers", name), // the next step may stop the leader
		operatorsRun(1),
	)
}

const leaderKey = "leader"

func rememberLeader(ctx context.Context, env *scenario.Env) error {
	holder, err := leader(ctx)
	env.Set(leaderKey, holder)
	env.Detailf("%s", holder)
	return err
}

func anotherLeads(ctx context.Context, env *scenario.Env) error {
	killed, err := scenario.Get[string](env, leaderKey)
	if err != nil {
		return err
	}
	holder, err := leader(ctx)
	if err == nil && (holder == killed || holder == "") {
		err = fmt.Errorf("got leader %q, want another replica than the killed %q", holder, killed)
	}
	env.Detailf("%s", holder)
	return err
}

// leader returns the holder of the operator's Lease. It has the form NAME_ID, where NAME is a Pod or a machine.
func leader(ctx context.Context) (string, error) {
	lease := &coordinationv1.Lease{}
	err := k8sClient.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: leaseName}, lease)
	return ptr.Deref(lease.Spec.HolderIdentity, ""), err
}

// healService is the scenario in which the operator is killed before the Service is deleted. If the operator were killed
// while it recreates the Service, the API server could leak the allocated node port. Its repair loop releases such a port
// only after about ten minutes.
const healService = "webserver/heal-service"

func focused(name string) bool {
	focus := environment.EnvConf().FeatureRegex()
	return focus == nil || focus.MatchString(name)
}

// barrier makes scenarios wait for each other. Once every expected scenario has either arrived or left, the barrier
// calls act and releases the waiting scenarios.
type barrier struct {
	act      func(context.Context) error
	mu       sync.Mutex
	expected map[string]bool
	done     chan struct{}
	err      error // valid after done is closed
}

func newBarrier(act func(context.Context) error) *barrier {
	return &barrier{act: act, expected: map[string]bool{}, done: make(chan struct{})}
}

func (b *barrier) expect(name string) { b.expected[name] = true }

func (b *barrier) step(step, name string) scenario.Step {
	return scenario.Step{Name: step, Run: func(ctx context.Context, _ *scenario.Env) error { return b.arrive(ctx, name) }}
}

func (b *barrier) arrive(ctx context.Context, name string) error {
	b.remove(ctx, name)
	select {
	case <-b.done:
		return b.err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(barrierTimeout()):
		return fmt.Errorf("the other scenarios did not reach this step within %s", barrierTimeout())
	}
}

// leave removes a scenario that will not arrive. It does nothing if the scenario has already arrived.
func (b *barrier) leave(name string) { b.remove(context.Background(), name) }

// remove removes an expected scenario. The removal of the last one calls act and releases the barrier.
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
