package e2e

import (
	"context"
	"errors"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/scenario"
)

// leaderCrash runs two replicas and kills the leader. On kind, the killed leader does not release its Lease, so another
// replica has to wait until the Lease expires. The fault explorer tests crashes at other points of a scenario.
func leaderCrash() scenario.Scenario {
	k := catalogue.WebServer
	return k.Scenario("leader-killed",
		k.ApplySample(),
		k.PodsAreReady(3),
		operatorsRun(2),
		scenario.Step{Name: "RememberLeader", Run: rememberLeader},
		scenario.Step{Name: "OperatorIsKilled", Run: func(ctx context.Context, _ *scenario.Env) error {
			return errors.Join(operator.CheckRestarts(ctx), operator.runner.(*pods).KillLeader(ctx))
		}},
		k.DeleteService(),
		k.ServiceIsRestored(),
		scenario.Step{Name: "AnotherReplicaLeads", Run: anotherReplicaLeads},
		k.StatusNamesThePods(),
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

func anotherReplicaLeads(ctx context.Context, env *scenario.Env) error {
	killed, err := scenario.Get[string](env, leaderKey)
	if err != nil {
		return err
	}
	holder, err := leader(ctx)
	if err == nil && (holder == killed || holder == "") {
		err = fmt.Errorf("got leader %q, want a replica other than the killed leader %q", holder, killed)
	}
	env.Detailf("%s", holder)
	return err
}

// leader returns the holder of the operator's Lease. It has the form NAME_ID, where NAME is the name of a Pod.
func leader(ctx context.Context) (string, error) {
	lease := &coordinationv1.Lease{}
	err := k8sClient.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: leaseName}, lease)
	return ptr.Deref(lease.Spec.HolderIdentity, ""), err
}

func operatorsRun(replicas int) scenario.Step {
	return scenario.Step{Name: fmt.Sprintf("OperatorsRun(%d)", replicas), Run: func(ctx context.Context, _ *scenario.Env) error {
		return errors.Join(operator.CheckRestarts(ctx), operator.runner.(*pods).Scale(ctx, replicas))
	}}
}
