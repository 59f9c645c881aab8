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
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/operator/controller"
	"github.com/operator-assay/assay/test/scenarios"
)

const artifactsDir = "../../_artifacts/faults"

// TestPlans runs every scenario under every fault type. It runs a subset of the plans by default, or all of them with
// ALL=1. For faults that are injected into only some requests, SEED determines which ones.
func TestPlans(t *testing.T) {
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("SEED"), "0"), 10, 64)
	if err != nil {
		t.Fatalf("invalid SEED=%s: use a non-negative integer", os.Getenv("SEED"))
	}
	explorer, err := explore.New(t.Context(), explore.Options{
		Environment: explore.Environment{ControlPlane: plane, Identity: identity, Operator: runInstance},
		Scenarios:   scenarios.All(),
		Invariants:  invariants,
		StepTimeout: stepTimeout,
		Seed:        seed,
		Progress:    os.Stdout,
	})
	noError(t, err)
	defer explorer.Close()
	defer func() { reportWithoutFault(t, explorer.WithoutFault()) }()
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
	fmt.Print(explore.Report(all, nil).Table())
	checkTriggered(t, all)
	about := results.About{Operator: controller.Name, Revision: os.Getenv("GITHUB_SHA"), Source: "test/scenarios/lifecycle.go"}
	noError(t, page.WriteExploration(artifactsDir, explorer.Exploration(all, about, rerun)))
	keepFailedPlans(t, all)
}

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

func invariants(category fault.Category, history []record.ObjectVersion) error {
	status := scenarios.StatusIsAccurate
	if category == fault.Staleness || category == fault.TimeTravels {
		status = scenarios.StatusIsConsistent
	}
	return errors.Join(status(history), scenarios.NodePortsStay(history))
}

func reportFailures(t *testing.T, all []explore.Result) {
	t.Helper()
	if report := explore.Report(all, rerun); report.HasFailed() {
		t.Error(report.FailureText())
	}
}

// reportWithoutFault fails the test for each finding in a fault-free run. reportFailures omits these findings.
func reportWithoutFault(t *testing.T, found []results.FindingWithoutFault) {
	t.Helper()
	for _, f := range found {
		t.Errorf("%s: found in a fault-free run: %s: %s", f.Scenario, f.Oracle, f.Message)
	}
}

func rerun(plan explore.Plan) string { return fmt.Sprintf("make test-faults PLAN='%s'", plan) }

// checkTriggered fails the test if more than 5% of the plans did not trigger their fault. Runs rarely deviate that much
// from their reference run.
func checkTriggered(t *testing.T, all []explore.Result) {
	t.Helper()
	missed := 0
	for _, r := range all {
		if !r.Triggered {
			missed++
		}
	}
	if missed*20 > len(all) {
		t.Errorf("%d of %d plans did not trigger their fault, want at most 5%%", missed, len(all))
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
