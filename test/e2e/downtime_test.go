package e2e

import (
	"context"
	"errors"
	"fmt"

	"github.com/operator-assay/assay/harness/scenario"
)

// What holds while the operator does not run.

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

func operatorsRun(replicas int) scenario.Step {
	return scenario.Step{Name: fmt.Sprintf("OperatorsRun(%d)", replicas), Run: func(ctx context.Context, _ *scenario.Env) error {
		return errors.Join(operator.Undisturbed(ctx), operator.Scale(ctx, replicas))
	}}
}
