package explore_test

import (
	"fmt"

	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

func ExampleReport() {
	passed, err := explore.Parse("web/create crash-after apply services web 1", []scenario.Scenario{{Name: "web/create"}})
	if err != nil {
		fmt.Println(err)
	}
	failure := verdict.Finding{Oracle: verdict.Counts, Message: "created services web 2 times, but 1 times in the reference run"}
	all := []explore.Result{
		{Plan: passed[0], Outcome: results.Outcome{Triggered: true}},
		{Plan: passed[0], Outcome: results.Outcome{Triggered: true, Findings: []verdict.Finding{failure}}},
	}
	fmt.Print(explore.Report(all, nil).Table())
	// Output:
	// SCENARIO    FAULTS   PLANS  FAILED  UNTRIGGERED  SECONDS
	// web/create  crashes  2      1       0            0.0
	// total                2      1       0            0.0
}
