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

// crashScenarios are scenarios in the middle of which the operator is killed. All of them share one crash: each runs up to
// its last action and waits for the others; then all act at once, and the operator is killed while it has all of that to do.
// Whoever leads next has to wait until the Lease of the dead one has expired, as after any crash. The explorer is what kills it
// at every other place.
func crashScenarios(all []scenario.Scenario) []types.Feature {
	lastAction, end := newBarrier(nil), newBarrier(nil)
	crash := newBarrier(func(ctx context.Context) error {
		return errors.Join(operator.Undisturbed(ctx), operator.KillLeader(ctx))
	})
	var crashed []scenario.Scenario
	for _, s := range all {
		name := s.Name + "/killed"
		before, after := []scenario.Step{lastAction.step("OthersAreAsFar", name)}, []scenario.Step{crash.step("OperatorIsKilled", name)}
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
	for _, s := range slices.DeleteFunc(crashed, leftToKWOK) {
		for _, b := range barriers {
			if focused(s.Name) {
				b.expect(s.Name)
			}
		}
		// They need no slots: all have to meet.
		made = append(made, feature(s, nil, func() {
			for _, b := range barriers {
				b.leave(s.Name)
			}
		}))
	}
	return made
}

// leaderCrash has another replica take over when the Lease of the dead leader has expired.
func leaderCrash(lastAction, crash, end *barrier) scenario.Scenario {
	k := catalogue.WebServer
	const name = "webserver/leader-killed"
	return k.Scenario("leader-killed",
		k.ApplySample(),
		k.PodsAreReady(3),
		operatorsRun(2),
		lastAction.step("OthersAreAsFar", name),
		scenario.Step{Name: "RememberLeader", Run: rememberLeader},
		crash.step("OperatorIsKilled", name),
		k.DeleteService(),
		k.ServiceIsRestored(),
		scenario.Step{Name: "AnotherLeads", Run: anotherLeads},
		k.StatusNamesThePods(),
		end.step("OthersHaveEnded", name), // the replica that is stopped may be the leader
		operatorsRun(1),
	)
}

// leaderKey is the name under which a scenario keeps the holder of the Lease.
const leaderKey = "leader"

func rememberLeader(ctx context.Context, env *scenario.Env) error {
	holder, err := leader(ctx)
	env.Set(leaderKey, holder)
	env.Detailf("%s", holder)
	return err
}

func anotherLeads(ctx context.Context, env *scenario.Env) error {
	dead, err := scenario.Get[string](env, leaderKey)
	if err != nil {
		return err
	}
	holder, err := leader(ctx)
	if err == nil && (holder == dead || holder == "") {
		err = fmt.Errorf("the Lease is held by %q, who is dead", holder)
	}
	env.Detailf("%s", holder)
	return err
}

// leader is the holder of the operator's Lease: the name of a Pod or a machine, an underscore, and an id of the process.
func leader(ctx context.Context) (string, error) {
	lease := &coordinationv1.Lease{}
	err := k8sClient.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: leaseName}, lease)
	return ptr.Deref(lease.Spec.HolderIdentity, ""), err
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

// step is the arrival of a scenario.
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
