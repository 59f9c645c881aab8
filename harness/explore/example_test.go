package explore_test

import (
	"fmt"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

// Failures are reported with their scenario and fault. Parse converts that text back to a plan.
func ExampleParse() {
	catalogue := []scenario.Scenario{{Name: "web/create"}, {Name: "web/delete"}}
	plans, err := explore.Parse("web/create crash-after apply services web 1; web/delete missed-events watch services - 2", catalogue)
	if err != nil {
		fmt.Println(err)
	}
	for _, plan := range plans {
		fmt.Printf("%s, %s: %s\n", plan.Scenario, plan.Fault.Category(), plan.Fault)
	}
	_, err = explore.Parse("web/create explode", catalogue)
	fmt.Println(err != nil)
	// Output:
	// web/create, crashes: crash-after apply services web 1
	// web/delete, staleness: missed-events watch services - 2
	// true
}

func ExampleTable() {
	passed, err := explore.Parse("web/create crash-after apply services web 1", []scenario.Scenario{{Name: "web/create"}})
	if err != nil {
		fmt.Println(err)
	}
	failure := verdict.Finding{Oracle: verdict.Counts, Message: "created services web 2 times, not 1 as in the reference"}
	all := []explore.Result{
		{Plan: passed[0], Outcome: results.Outcome{Triggered: true}},
		{Plan: passed[0], Outcome: results.Outcome{Triggered: true, Findings: []verdict.Finding{failure}}},
	}
	fmt.Print(explore.Table(all))
	fmt.Println(explore.Err(all))
	// Output:
	// SCENARIO    FAULTS   PLANS  FAILED  UNTRIGGERED  SECONDS
	// web/create  crashes  2      1       0            0.0
	// total                2      1       0            0.0
	// 1 of 2 plans failed
}
