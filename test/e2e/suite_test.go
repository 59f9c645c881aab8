package e2e

import (
	"slices"
	"testing"

	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/e2e-framework/pkg/types"

	"github.com/operator-assay/assay/harness/cluster"
	"github.com/operator-assay/assay/harness/scenario"
)

// The tests, in the order in which they run. TestOperatorCrash is early: while it waits for the Lease of the killed operator,
// the garbage collector of a new kind cluster discovers the kinds, which it does every 30 s. Until then, scenarios that delete
// something would wait for it.

func TestOperatorDowntime(t *testing.T) {
	serial(t, slices.DeleteFunc([]scenario.Scenario{operatorDowntime()}, leftToKWOK)...)
}

func TestOperatorCrash(t *testing.T) {
	environment.TestInParallel(t, crashScenarios(catalogue.All())...)
}

// TestParallel runs the scenarios that can share the operator and the machine at the same time.
func TestParallel(t *testing.T) {
	ws, mc := catalogue.WebServer, catalogue.Memcached
	parallel(t, slices.DeleteFunc(slices.Concat(
		catalogue.All(),
		[]scenario.Scenario{
			kubectlLifecycle(ws, "NAME DESIRED READY AVAILABLE NODE-PORT IMAGE AGE"), kubectlLifecycle(mc, "NAME SIZE READY AVAILABLE IMAGE AGE"),
			refusals(ws, "replicas"), refusals(mc, "size"),
			podDeletedByForce(ws), podDeletedByForce(mc),
			restrictedPodSecurity(), operatorPermissions(), operatorMetrics(),
		},
		ifContainersRun(
			badImageFromTheStart(ws), badImageFromTheStart(mc), badUpgrade(ws), badUpgrade(mc),
			nodePortAnswers(), valuesAreKept(),
		)), leftToKWOK)...)
}

func TestLoad(t *testing.T) {
	serial(t, ifContainersRun(upgradeUnderLoad(), scaleUnderLoad(), healUnderLoad())...)
}

// TestEnd is last: it stops the operator for a while, checks that it has not exited in the whole run, and uninstalls it, unless
// the cluster is kept.
func TestEnd(t *testing.T) {
	serial(t, slices.DeleteFunc([]scenario.Scenario{deletedDuringDowntime(), operatorUndisturbed()}, leftToKWOK)...)
	if keepCluster() {
		reporter.Skip("webserver/uninstall", "E2E_KEEP="+keepMode)
		return
	}
	serial(t, uninstall())
}

// maxParallel is as many scenarios as keep two cores busy while containers start.
const maxParallel = 10

// parallel runs scenarios at the same time.
func parallel(t *testing.T, all ...scenario.Scenario) {
	environment.TestInParallel(t, features(semaphore.NewWeighted(maxParallel), all)...)
}

// serial runs scenarios that need the operator, or the machine, for themselves.
func serial(t *testing.T, all ...scenario.Scenario) {
	environment.Test(t, features(nil, all)...)
}

func features(slots *semaphore.Weighted, all []scenario.Scenario) []types.Feature {
	var made []types.Feature
	for _, s := range all {
		made = append(made, feature(s, slots, func() {}))
	}
	return made
}

// ifContainersRun returns scenarios, or reports why they cannot run here.
func ifContainersRun(all ...scenario.Scenario) []scenario.Scenario {
	if testCluster.Provider != cluster.KWOK {
		return all
	}
	for _, s := range all {
		if focused(s.Name) {
			reporter.Skip(s.Name, "KWOK runs no containers")
		}
	}
	return nil
}

// needContainers are the scenarios that a run on kind or an existing cluster plays: those of the mission for both kinds,
// those that depend on real containers, images or networking, and one in which the leader is killed.
var needContainers = sets.New(
	"webserver/create", "webserver/scale-3-to-4", "webserver/upgrade-image", "webserver/heal-service",
	"memcached/create", "memcached/scale-3-to-4", "memcached/upgrade-image", "memcached/heal-deployment",

	"webserver/bad-image", "webserver/bad-upgrade", "memcached/bad-image", "memcached/bad-upgrade",
	"webserver/node-port-answers", "memcached/values-are-kept", "memcached/restricted",
	"webserver/upgrade-under-load", "webserver/scale-under-load", "webserver/heal-under-load",

	"webserver/leader-killed", "webserver/operator-undisturbed", "webserver/uninstall",
)

// leftToKWOK reports whether a scenario is left out because a run on KWOK tests it as well. FOCUS and E2E_ALL=1 include it.
func leftToKWOK(s scenario.Scenario) bool {
	if testCluster.Provider == cluster.KWOK || playAll || environment.EnvConf().FeatureRegex() != nil || needContainers.Has(s.Name) {
		return false
	}
	reporter.Skip(s.Name, "E2E_PROVIDER=kwok tests it as well; E2E_ALL=1 includes it here")
	return true
}
