package e2e

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/test/scenarios"
)

// unpullable is an image that cannot be pulled, because the domain .invalid never resolves.
const unpullable = "registry.invalid/none:1"

// badUpgrade checks that the old Pods survive a failed upgrade and the rollback.
func badUpgrade(k scenarios.TestKind) scenario.Scenario {
	return k.Scenario("bad-upgrade",
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberPods(),
		k.SetImage(unpullable),
		k.ConditionIs(workload.Degraded, metav1.ConditionTrue, workload.ReasonPodsFailing),
		k.ConditionIs(workload.Available, metav1.ConditionTrue, workload.ReasonPodsReady),
		k.RememberedPodsStay(),
		k.ApplySample(),
		k.PodsAreReady(3),
		k.RememberedPodsStay(),
		k.StatusNamesThePods(),
	)
}
