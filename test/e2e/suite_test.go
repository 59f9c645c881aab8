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
	serial(t, operatorDowntime())
}

func TestOperatorCrash(t *testing.T) {
	environment.TestInParallel(t, crashScenarios(catalogue.All())...)
}

// TestParallel runs all that may share the operator and the machine, at the same time.
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
	serial(t, deletedDuringDowntime(), operatorUndisturbed())
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

// simulated are the scenarios that KWOK tests as well as containers do, and faster. Played with containers are create, scale,
// upgrade and heal, whatever depends on how containers start and end, and of the scenarios in which the operator is killed
// leader-killed and five others.
var simulated = sets.New(
	"webserver/scale-to-0-and-back", "webserver/heal-deployment", "webserver/repair-drift", "webserver/delete",
	"webserver/delete-and-recreate", "webserver/kubectl",
	"memcached/scale-to-0-and-back", "memcached/repair-drift", "memcached/delete", "memcached/kubectl",

	"webserver/scale-to-0-and-back/killed", "webserver/heal-deployment/killed", "webserver/repair-drift/killed",
	"webserver/delete/killed", "webserver/delete-and-recreate/killed", "webserver/scale-3-to-4/killed",
	"memcached/scale-to-0-and-back/killed", "memcached/heal-deployment/killed", "memcached/repair-drift/killed",
	"memcached/delete/killed", "memcached/create/killed", "memcached/upgrade-image/killed",
)

// leftToKWOK tells whether a scenario is not played here because the same run on KWOK shows as much, and reports that. FOCUS
// and E2E_ALL=1 have it played.
func leftToKWOK(s scenario.Scenario) bool {
	if testCluster.Provider == cluster.KWOK || playAll || environment.EnvConf().FeatureRegex() != nil || !simulated.Has(s.Name) {
		return false
	}
	reporter.Skip(s.Name, "E2E_PROVIDER=kwok shows as much; E2E_ALL=1 plays it here")
	return true
}
