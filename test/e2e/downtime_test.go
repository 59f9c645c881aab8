package e2e

import (
	"context"
	"errors"
	"fmt"

	"github.com/operator-assay/assay/harness/scenario"
)

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

func operatorsRun(replicas int) scenario.Step {
	return scenario.Step{Name: fmt.Sprintf("OperatorsRun(%d)", replicas), Run: func(ctx context.Context, _ *scenario.Env) error {
		return errors.Join(operator.CheckRestarts(ctx), operator.Scale(ctx, replicas))
	}}
}
