package faults

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/operator-assay/assay/test/harness/explore"
	"github.com/operator-assay/assay/test/harness/faults"
	"github.com/operator-assay/assay/test/harness/oracle"
	"github.com/operator-assay/assay/test/scenarios"
)

// artifacts is where a run leaves its results, seen from this folder.
const artifacts = "../../_artifacts/faults"

// TestPlans plays every scenario under every fault. SEED chooses, where not every plan is played.
func TestPlans(t *testing.T) {
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("SEED"), "0"), 10, 64)
	if err != nil {
		t.Fatalf("SEED=%s is no seed: set a whole number from 0 on", os.Getenv("SEED"))
	}
	explorer, err := explore.New(t.Context(), explore.Options{
		Plane:      plane,
		Identity:   identity,
		Operator:   operate,
		Scenarios:  scenarios.All(),
		Invariants: invariants,
		Patience:   patience,
		Seed:       seed,
		Out:        os.Stdout,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer explorer.Close()
	if text := os.Getenv("PLAN"); text != "" {
		plans, err := explore.Parse(text, scenarios.All())
		if err != nil {
			t.Fatal(err)
		}
		results, err := explorer.Rerun(t.Context(), plans...)
		tell(t, results)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	var all []explore.Result
	for _, family := range faults.Families {
		t.Run(string(family), func(t *testing.T) {
			results, err := explorer.Explore(t.Context(), family)
			tell(t, results)
			all = append(all, results...)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	fmt.Print(explore.Table(all))
	missedAreFew(t, all)
	roleIsExact(t, explorer.Uses())
	if err := explore.WriteResults(artifacts, all); err != nil {
		t.Fatal(err)
	}
}

// invariants hold at every moment, whatever happens to the operator.
func invariants(family faults.Family, history []oracle.Version) error {
	status := scenarios.StatusIsTruthful
	if family == faults.Views {
		status = scenarios.StatusIsConsistent
	}
	return errors.Join(status(history), scenarios.ChildrenAreSingle(history), scenarios.NodePortsStay(history))
}

// tell fails the test if a plan failed, and tells of those.
func tell(t *testing.T, results []explore.Result) {
	t.Helper()
	if err := explore.Verdict(results); err != nil {
		t.Errorf("%s\n%v", explore.Failures(results, func(plan explore.Plan) string {
			return fmt.Sprintf("make test-faults PLAN='%s'", plan)
		}), err)
	}
}

// missedAreFew fails the test if more than one plan in twenty has befallen nothing: a run seldom differs
// that much from its reference.
func missedAreFew(t *testing.T, results []explore.Result) {
	t.Helper()
	missed := 0
	for _, r := range results {
		if !r.Struck {
			missed++
		}
	}
	if missed*20 > len(results) {
		t.Errorf("%d of %d plans befell nothing, and prove nothing", missed, len(results))
	}
}
