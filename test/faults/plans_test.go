package faults

import (
	"fmt"
	"os"
	"testing"

	"github.com/operator-assay/assay/test/harness/explore"
	"github.com/operator-assay/assay/test/scenarios"
)

// TestPlans plays every scenario under every fault.
func TestPlans(t *testing.T) {
	explorer, err := explore.New(t.Context(), explore.Options{
		Plane:      plane,
		Identity:   identity,
		Operator:   operate,
		Scenarios:  scenarios.All(),
		Invariants: scenarios.StatusIsTruthful,
		Patience:   patience,
		Out:        os.Stdout,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer explorer.Close()
	if plan := os.Getenv("PLAN"); plan != "" {
		result, err := explorer.Rerun(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		tell(t, result)
		return
	}
	var all []explore.Result
	for _, family := range explore.Families {
		t.Run(string(family), func(t *testing.T) {
			results, err := explorer.Explore(t.Context(), family)
			if err != nil {
				t.Fatal(err)
			}
			for _, result := range results {
				tell(t, result)
			}
			all = append(all, results...)
		})
	}
	fmt.Print(explore.Table(all))
}

func tell(t *testing.T, result explore.Result) {
	t.Helper()
	if len(result.Findings) > 0 {
		t.Errorf("%s  rerun            make test-faults PLAN='%s'", result, result.Plan)
	}
}
