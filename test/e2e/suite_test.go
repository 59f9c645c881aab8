package e2e

import (
	"testing"

	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/e2e-framework/pkg/types"

	"github.com/operator-assay/assay/harness/cluster"
	"github.com/operator-assay/assay/harness/scenario"
)

// TestLeaderCrash runs early. While it waits for a Lease to expire, the garbage collector of a new kind cluster
// discovers the custom resources. Otherwise, scenarios that delete objects might have to wait up to 30s for this.
func TestLeaderCrash(t *testing.T) {
	serial(t, leaderCrash())
}

func TestParallel(t *testing.T) {
	ws, mc := catalogue.WebServer, catalogue.Memcached
	parallel(t, append(catalogue.All(),
		kubectlLifecycle(ws, "NAME DESIRED READY AVAILABLE NODE-PORT IMAGE AGE"), kubectlLifecycle(mc, "NAME SIZE READY AVAILABLE IMAGE AGE"),
		badUpgrade(ws), badUpgrade(mc), healNodePort(),
	)...)
}

func TestLoad(t *testing.T) {
	serial(t, rolloutUnderLoad())
}

// TestEnd must be the last test. It checks that the operator has not restarted during the run, and uninstalls the
// operator unless the cluster is kept.
func TestEnd(t *testing.T) {
	serial(t, operatorUndisturbed())
	if keepCluster() {
		reporter.Skip("webserver/uninstall", "E2E_KEEP=failed")
		return
	}
	serial(t, uninstall())
}

// maxParallel is enough to keep two cores busy while some of the scenarios wait for containers to start.
const maxParallel = 10

func parallel(t *testing.T, all ...scenario.Scenario) {
	environment.TestInParallel(t, features(semaphore.NewWeighted(maxParallel), all)...)
}

// serial runs scenarios that cannot share the operator or the machine with others.
func serial(t *testing.T, all ...scenario.Scenario) {
	environment.Test(t, features(nil, all)...)
}

// features returns the features of the scenarios that run on this provider, and reports the others as skipped.
func features(slots *semaphore.Weighted, all []scenario.Scenario) []types.Feature {
	focus := environment.EnvConf().FeatureRegex()
	var made []types.Feature
	for _, s := range all {
		if reason := skipReason(s.Name, focus != nil); reason == "" {
			made = append(made, feature(s, slots))
		} else if focus == nil || focus.MatchString(s.Name) {
			reporter.Skip(s.Name, reason)
		}
	}
	return made
}

// needContainers are the scenarios that depend on real containers, images or networking, or on the operator's Pods.
var needContainers = sets.New(
	"webserver/bad-upgrade", "memcached/bad-upgrade", "webserver/rollout-under-load", "webserver/heal-node-port",
	"webserver/leader-killed",
)

// runEverywhere contains the scenarios that run on every provider, although a run on KWOK would be sufficient: the most
// important scenarios for WebServers and Memcacheds, and the checks at the end of the run.
var runEverywhere = sets.New(
	"webserver/create", "webserver/scale-3-to-4", "webserver/upgrade-image", "webserver/heal-service",
	"memcached/create", "memcached/scale-3-to-4", "memcached/upgrade-image", "memcached/heal-deployment",
	"webserver/operator-undisturbed", "webserver/uninstall",
)

// skipReason returns why a scenario does not run on this provider, or an empty string if it runs.
func skipReason(name string, isFocused bool) string {
	switch {
	case testCluster.Provider == cluster.KWOK && needContainers.Has(name):
		return "KWOK runs neither containers nor the operator's Pod"
	case testCluster.Provider == cluster.KWOK, runAll, isFocused, needContainers.Has(name), runEverywhere.Has(name):
		return ""
	default:
		return "covered by E2E_PROVIDER=kwok; set E2E_ALL=1 to run it here"
	}
}
