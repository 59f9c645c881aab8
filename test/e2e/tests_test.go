package e2e

import (
	"testing"

	"sigs.k8s.io/e2e-framework/pkg/types"

	"github.com/operator-assay/assay/test/harness/cluster"
	"github.com/operator-assay/assay/test/harness/scenario"
)

// The tests, in the order in which they are played. Those of one test that may share the operator
// are played at the same time.

func TestCatalogue(t *testing.T) {
	atOnce(t, catalogue.All()...)
}

func TestUsers(t *testing.T) {
	ws, mc := catalogue.WebServer, catalogue.Memcached
	atOnce(t,
		byKubectl(ws, "NAME DESIRED READY AVAILABLE NODE-PORT AGE"), byKubectl(mc, "NAME SIZE READY AVAILABLE AGE"),
		refusals(ws, "replicas"), refusals(mc, "size"),
		podDeletedByForce(ws), podDeletedByForce(mc),
		restricted(), rights(), metrics())
}

func TestContainers(t *testing.T) {
	ws, mc := catalogue.WebServer, catalogue.Memcached
	whereContainersAreReal(t, atOnce,
		badImageFromTheStart(ws), badImageFromTheStart(mc), badUpgrade(ws), badUpgrade(mc),
		nodePortAnswers(), valuesAreKept())
}

func TestLoad(t *testing.T) {
	whereContainersAreReal(t, inTurn, upgradeUnderLoad(), scaleUnderLoad(), healUnderLoad())
}

func TestOperatorKilled(t *testing.T) {
	environment.TestInParallel(t, killedTogether(catalogue.All())...)
}

func TestOperatorAway(t *testing.T) {
	inTurn(t, operatorAway(), deletedWhileAway(), leaderKilled())
}

// TestEnd comes last: it asks how the operator has fared, and takes it away, unless somebody wants to
// look at what has failed.
func TestEnd(t *testing.T) {
	inTurn(t, undisturbed())
	if keepCluster() {
		told.Skip("webserver/uninstall", "E2E_KEEP="+keep)
		return
	}
	inTurn(t, uninstall())
}

// atOnce plays scenarios in parallel: as many as keep two cores busy while containers start.
func atOnce(t *testing.T, all ...scenario.Scenario) {
	environment.TestInParallel(t, features(make(places, 8), all)...)
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

// whereContainersAreReal plays scenarios, or tells why not.
func whereContainersAreReal(t *testing.T, play func(*testing.T, ...scenario.Scenario), all ...scenario.Scenario) {
	if where.Provider != cluster.KWOK {
		play(t, all...)
		return
	}
	for _, s := range all {
		if inFocus(s.Name) {
			told.Skip(s.Name, "KWOK runs no containers")
		}
	}
}
