package report

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/onsi/ginkgo/v2/reporters"
)

// junit is the report in the format in which CI systems show results. The caller holds the lock.
func (r *Report) junit(suite string) ([]byte, error) {
	all := reporters.JUnitTestSuite{Name: suite, Timestamp: r.start.Format("2006-01-02T15:04:05")}
	for _, run := range r.runs {
		test := reporters.JUnitTestCase{Name: run.name, Classname: suite, Status: "passed", Time: run.duration.Seconds()}
		switch {
		case run.skipped != "":
			test.Status, test.Skipped = "skipped", &reporters.JUnitSkipped{Message: run.skipped}
			all.Skipped++
		case run.failure != "":
			text := []string{run.failure}
			for _, d := range run.details {
				text = append(text, d.String())
			}
			test.Status, test.Failure = "failed", &reporters.JUnitFailure{Message: strings.Join(text, "\n"), Type: "failed"}
			all.Failures++
		}
		all.TestCases = append(all.TestCases, test)
		all.Time += test.Time
	}
	for i, err := range r.errs {
		all.TestCases = append(all.TestCases, reporters.JUnitTestCase{
			Name: fmt.Sprintf("outside of any scenario (%d)", i+1), Classname: suite, Status: "error",
			Error: &reporters.JUnitError{Message: err.Error(), Type: "error"},
		})
		all.Errors++
	}
	all.Tests = len(all.TestCases)
	text, err := xml.MarshalIndent(reporters.JUnitTestSuites{
		Tests: all.Tests, Errors: all.Errors, Failures: all.Failures,
		Time: all.Time, TestSuites: []reporters.JUnitTestSuite{all},
	}, "", "  ")
	return append([]byte(xml.Header), text...), err
}
