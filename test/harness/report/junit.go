package report

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"

	"github.com/onsi/ginkgo/v2/reporters"
)

// WriteJUnit writes the report as a JUnit file, the format in which CI systems show results. It creates the folder if
// needed. suite names what the scenarios ran on.
func (r *Report) WriteJUnit(path, suite string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	results := reporters.JUnitTestSuite{Name: suite, Timestamp: r.start.Format("2006-01-02T15:04:05")}
	for _, run := range r.runs {
		test := reporters.JUnitTestCase{Name: run.name, Classname: suite, Status: "passed", Time: run.duration.Seconds()}
		switch {
		case run.skipped != "":
			test.Status, test.Skipped = "skipped", &reporters.JUnitSkipped{Message: run.skipped}
			results.Skipped++
		case run.failure != "":
			test.Status, test.Failure = "failed", &reporters.JUnitFailure{Message: run.failure, Type: "failed"}
			results.Failures++
		}
		results.TestCases = append(results.TestCases, test)
		results.Time += test.Time
	}
	for i, err := range r.errs {
		results.TestCases = append(results.TestCases, reporters.JUnitTestCase{
			Name: fmt.Sprintf("outside of any scenario (%d)", i+1), Classname: suite, Status: "error",
			Error: &reporters.JUnitError{Message: err.Error(), Type: "error"},
		})
		results.Errors++
	}
	results.Tests = len(results.TestCases)
	text, err := xml.MarshalIndent(reporters.JUnitTestSuites{
		Tests: results.Tests, Errors: results.Errors, Failures: results.Failures,
		Time: results.Time, TestSuites: []reporters.JUnitTestSuite{results},
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(xml.Header), text...), 0o644)
}
