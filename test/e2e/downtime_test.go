package e2e

import (
	"context"
	"errors"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/test/harness/scenario"
)

// What holds while the operator does not run, and when its leader is killed.

// operatorDowntime changes and deletes objects while no operator runs. The next one has to notice.
func operatorDowntime() scenario.Scenario {
	k := catalogue.WebServer
	return k.Scenario("operator-downtime",
		operatorsRun(1),
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

// deletedDuringDowntime needs no operator: there is no finalizer to wait for.
func deletedDuringDowntime() scenario.Scenario {
	k := catalogue.Memcached
	return k.Scenario("operator-downtime",
		operatorsRun(1),
		k.ApplySample(),
		k.PodsAreReady(3),
		operatorsRun(0),
		k.Delete(),
		k.NothingIsLeft(),
		operatorsRun(1),
	)
}

// leaderCrash has another replica take over when the Lease of the dead leader has expired.
func leaderCrash() scenario.Scenario {
	k := catalogue.WebServer
	return k.Scenario("leader-killed",
		k.ApplySample(),
		k.PodsAreReady(3),
		operatorsRun(2),
		scenario.Step{Name: "LeaderIsKilled", Run: crashLeader},
		k.DeleteService(),
		k.ServiceIsRestored(),
		scenario.Step{Name: "AnotherLeads", Run: checkNewLeader},
		k.StatusNamesThePods(),
		operatorsRun(1),
	)
}

func operatorsRun(replicas int) scenario.Step {
	return scenario.Step{Name: fmt.Sprintf("OperatorsRun(%d)", replicas), Run: func(ctx context.Context, _ *scenario.Env) error {
		return errors.Join(operator.Undisturbed(ctx), operator.Scale(ctx, replicas))
	}}
}

// leaderKey is the name under which a scenario keeps the holder of the Lease.
const leaderKey = "leader"

func crashLeader(ctx context.Context, env *scenario.Env) error {
	holder, err := leader(ctx)
	if err != nil {
		return err
	}
	env.Set(leaderKey, holder)
	env.Detailf("%s", holder)
	return errors.Join(operator.Undisturbed(ctx), operator.KillLeader(ctx))
}

func checkNewLeader(ctx context.Context, env *scenario.Env) error {
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
