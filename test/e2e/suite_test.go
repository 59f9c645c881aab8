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

func TestOperatorDowntime(t *testing.T) {
	serial(t, slices.DeleteFunc([]scenario.Scenario{operatorDowntime()}, coveredByKWOK)...)
}

// TestLeaderCrash runs early, because it has to wait for a Lease to expire. In a new kind cluster, the garbage collector
// discovers the custom resources during this time. It discovers kinds only every 30s, and scenarios that delete objects
// would have to wait for that.
func TestLeaderCrash(t *testing.T) {
	serial(t, leaderCrash())
}

func TestParallel(t *testing.T) {
	ws, mc := catalogue.WebServer, catalogue.Memcached
	parallel(t, slices.DeleteFunc(slices.Concat(
		catalogue.All(),
		[]scenario.Scenario{
			kubectlLifecycle(ws, "NAME DESIRED READY AVAILABLE NODE-PORT IMAGE AGE"), kubectlLifecycle(mc, "NAME SIZE READY AVAILABLE IMAGE AGE"),
		},
		ifContainersRun(
			badImageFromTheStart(ws), badImageFromTheStart(mc), badUpgrade(ws), badUpgrade(mc),
			nodePortAnswers(), valuesAreKept(),
		)), coveredByKWOK)...)
}

func TestLoad(t *testing.T) {
	serial(t, ifContainersRun(upgradeUnderLoad(), scaleUnderLoad(), healUnderLoad())...)
}

// TestEnd must be the last test. It checks that the operator has not restarted during the run, and uninstalls the
// operator unless the cluster is kept.
func TestEnd(t *testing.T) {
	serial(t, slices.DeleteFunc([]scenario.Scenario{operatorUndisturbed()}, coveredByKWOK)...)
	if keepCluster() {
		reporter.Skip("webserver/uninstall", "E2E_KEEP="+keepMode)
		return
	}
	serial(t, uninstall())
}

// maxParallel keeps two cores busy while containers start.
const maxParallel = 10

func parallel(t *testing.T, all ...scenario.Scenario) {
	environment.TestInParallel(t, features(semaphore.NewWeighted(maxParallel), all)...)
}

// serial runs scenarios that cannot share the operator or the machine with others.
func serial(t *testing.T, all ...scenario.Scenario) {
	environment.Test(t, features(nil, all)...)
}

func features(slots *semaphore.Weighted, all []scenario.Scenario) []types.Feature {
	var made []types.Feature
	for _, s := range all {
		made = append(made, feature(s, slots))
	}
	return made
}

// ifContainersRun returns the given scenarios. On KWOK, it reports them as skipped and returns none.
func ifContainersRun(all ...scenario.Scenario) []scenario.Scenario {
	if testCluster.Provider != cluster.KWOK {
		return all
	}
	focus := environment.EnvConf().FeatureRegex()
	for _, s := range all {
		if focus == nil || focus.MatchString(s.Name) {
			reporter.Skip(s.Name, "KWOK does not run containers")
		}
	}
	return nil
}

// needContainers are the scenarios that run on kind or an existing cluster by default. These are the most important
// scenarios for both kinds, those that depend on real containers, images or networking, and one with a killed leader.
var needContainers = sets.New(
	"webserver/create", "webserver/scale-3-to-4", "webserver/upgrade-image", "webserver/heal-service",
	"memcached/create", "memcached/scale-3-to-4", "memcached/upgrade-image", "memcached/heal-deployment",

	"webserver/bad-image", "webserver/bad-upgrade", "memcached/bad-image", "memcached/bad-upgrade",
	"webserver/node-port-answers", "memcached/values-are-kept",
	"webserver/upgrade-under-load", "webserver/scale-under-load", "webserver/heal-under-load",

	"webserver/leader-killed", "webserver/operator-undisturbed", "webserver/uninstall",
)

// coveredByKWOK reports whether to skip a scenario, because a run on KWOK covers it. FOCUS and E2E_ALL=1 disable this.
func coveredByKWOK(s scenario.Scenario) bool {
	if testCluster.Provider == cluster.KWOK || runAll || environment.EnvConf().FeatureRegex() != nil || needContainers.Has(s.Name) {
		return false
	}
	reporter.Skip(s.Name, "covered by E2E_PROVIDER=kwok; set E2E_ALL=1 to run it here")
	return true
}
