package faults_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/report/page"
	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/operator/controller"
	"github.com/operator-assay/assay/test/scenarios"
)

// artifactsDir is where a run leaves its results, relative to this folder.
const artifactsDir = "../../_artifacts/faults"

// TestPlans plays every scenario under every type of fault: a selection of plans, or all of them with ALL=1. SEED chooses the
// points of faults that are injected at only some.
func TestPlans(t *testing.T) {
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("SEED"), "0"), 10, 64)
	if err != nil {
		t.Fatalf("SEED=%s is no seed: set a whole number from 0 on", os.Getenv("SEED"))
	}
	explorer, err := explore.New(t.Context(), explore.Options{
		ControlPlane: plane,
		Identity:     identity,
		Operator:     runInstance,
		Scenarios:    scenarios.All(),
		Invariants:   invariants,
		StepTimeout:  stepTimeout,
		Seed:         seed,
		Progress:     os.Stdout,
	})
	noError(t, err)
	defer explorer.Close()
	defer func() { reportPanics(t, explorer.Panics()) }()
	if text := os.Getenv("PLAN"); text != "" {
		plans, err := explore.Parse(text, scenarios.All())
		noError(t, err)
		played, err := explorer.Replay(t.Context(), plans...)
		reportFailures(t, played)
		noError(t, err)
		return
	}
	all := playPlans(t, explorer)
	pairs := gatePairs
	if playsAll() {
		pairs = allPairs
	}
	t.Run("pairs", func(t *testing.T) {
		before := len(all)
		if all, err = explorer.ExplorePairs(t.Context(), all, pairs); err != nil {
			t.Fatal(err)
		}
		reportFailures(t, all[before:])
	})
	fmt.Print(explore.Table(all))
	checkTriggered(t, all)
	if playsAll() { // only all plans use all permissions
		checkRole(t, explorer.Permissions())
	}
	about := results.About{Operator: controller.Name, Revision: os.Getenv("GITHUB_SHA"), Source: "test/scenarios/lifecycle.go"}
	noError(t, page.WriteExploration(artifactsDir, explorer.Exploration(all, about, rerun)))
	keepFailedPlans(t, all)
}

// playPlans plays all plans, or those of the selection.
func playPlans(t *testing.T, explorer *explore.Explorer) (all []explore.Result) {
	planned, err := explorer.Plans(t.Context(), fault.Categories...)
	noError(t, err)
	if !playsAll() {
		all, err = explorer.Play(t.Context(), selectPlans(t, planned)...)
		reportFailures(t, all)
		noError(t, err)
		return all
	}
	for _, category := range fault.Categories {
		t.Run(string(category), func(t *testing.T) {
			played, err := explorer.Explore(t.Context(), category)
			reportFailures(t, played)
			all = append(all, played...)
			noError(t, err)
		})
	}
	return all
}

// invariants hold at every version, whatever happens to the operator.
func invariants(category fault.Category, history []record.ObjectVersion) error {
	status := scenarios.StatusIsAccurate
	if category == fault.Staleness || category == fault.TimeTravels {
		status = scenarios.StatusIsConsistent
	}
	return errors.Join(status(history), scenarios.ChildrenAreSingle(history), scenarios.NodePortsStay(history))
}

// reportFailures fails the test if a plan failed, and prints the failures.
func reportFailures(t *testing.T, all []explore.Result) {
	t.Helper()
	if err := explore.Err(all); err != nil {
		t.Errorf("%s\n%v", explore.FailureReport(all, rerun), err)
	}
}

// reportPanics fails the test if the operator panicked without any fault, which fails no plan.
func reportPanics(t *testing.T, panics []results.PanicWithoutFault) {
	t.Helper()
	for _, p := range panics {
		t.Errorf("%s: the operator panics without any fault: %s", p.Scenario, p.Message)
	}
}

// rerun is the command that plays a plan again.
func rerun(plan explore.Plan) string { return fmt.Sprintf("make test-faults PLAN='%s'", plan) }

// checkTriggered fails the test if more than one plan in twenty did not trigger: a run seldom differs that much from
// its reference.
func checkTriggered(t *testing.T, all []explore.Result) {
	t.Helper()
	missed := 0
	for _, r := range all {
		if !r.Triggered {
			missed++
		}
	}
	if missed*20 > len(all) {
		t.Errorf("%d of %d plans never triggered their fault, and prove nothing", missed, len(all))
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
