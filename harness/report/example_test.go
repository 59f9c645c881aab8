package report_test

import (
	"errors"
	"io"
	"os"

	"github.com/operator-assay/assay/harness/report"
	"github.com/operator-assay/assay/harness/scenario"
)

// A runner reports each step when it ends. Close returns an error if the run has failed.
func Example() {
	r := report.New(io.Discard) // usually os.Stdout
	run := r.Start("web/heal-service")
	run.Step(scenario.StepResult{Step: "DeleteService"})
	run.Step(scenario.StepResult{Step: "ServiceIsRestored", Err: errors.New(`services "web" not found`)})
	run.Failed("_artifacts/web-heal-service", "make e2e FOCUS=web/heal-service")
	if err := r.Close(); err != nil {
		os.Stdout.WriteString(err.Error())
	}
	// Output: the run has failed
}
