package e2e

import (
	"slices"
	"testing"

	"sigs.k8s.io/e2e-framework/pkg/types"

	"github.com/operator-assay/assay/test/harness/cluster"
	"github.com/operator-assay/assay/test/harness/scenario"
)

// The tests, in the order in which they are played: those first that wait for the Leases of the dead.
// Meanwhile a new cluster's garbage collector gets to know the kinds, which it looks for every 30 s;
// until then it would keep the stories of deletion waiting.

func TestOperatorAway(t *testing.T) {
	inTurn(t, operatorAway(), leaderKilled())
}

func TestOperatorKilled(t *testing.T) {
	environment.TestInParallel(t, killedTogether(catalogue.All())...)
}

// TestTogether plays all that may share the operator and the machine, at the same time.
func TestTogether(t *testing.T) {
	ws, mc := catalogue.WebServer, catalogue.Memcached
	atOnce(t, slices.Concat(
		catalogue.All(),
		[]scenario.Scenario{
			byKubectl(ws, "NAME DESIRED READY AVAILABLE NODE-PORT AGE"), byKubectl(mc, "NAME SIZE READY AVAILABLE AGE"),
			refusals(ws, "replicas"), refusals(mc, "size"),
			podDeletedByForce(ws), podDeletedByForce(mc),
			restricted(), rights(), metrics(),
		},
		whereContainersAreReal(
			badImageFromTheStart(ws), badImageFromTheStart(mc), badUpgrade(ws), badUpgrade(mc),
			nodePortAnswers(), valuesAreKept(),
		))...)
}

func TestLoad(t *testing.T) {
	inTurn(t, whereContainersAreReal(upgradeUnderLoad(), scaleUnderLoad(), healUnderLoad())...)
}

// TestEnd comes last: it stops the operator for a while, asks how the operator has fared, and takes it away, unless somebody wants to
// look at what has failed.
func TestEnd(t *testing.T) {
	inTurn(t, deletedWhileAway(), undisturbed())
	if keepCluster() {
		told.Skip("webserver/uninstall", "E2E_KEEP="+keep)
		return
	}
	inTurn(t, uninstall())
}

// atOnce plays scenarios in parallel: as many as keep two cores busy while containers start.
func atOnce(t *testing.T, all ...scenario.Scenario) {
	environment.TestInParallel(t, features(make(places, 10), all)...)
}

// inTurn plays scenarios that need the operator, or the machine, for themselves.
func inTurn(t *testing.T, all ...scenario.Scenario) {
	environment.Test(t, features(nil, all)...)
}

func features(places places, all []scenario.Scenario) []types.Feature {
	var made []types.Feature
	for _, s := range all {
		made = append(made, feature(s, places, func() {}))
	}
	return made
}

// whereContainersAreReal passes scenarios on, or tells why they cannot be played here.
func whereContainersAreReal(all ...scenario.Scenario) []scenario.Scenario {
	if where.Provider != cluster.KWOK {
		return all
	}
	for _, s := range all {
		if inFocus(s.Name) {
			told.Skip(s.Name, "KWOK runs no containers")
		}
	}
	return nil
}
