package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/operator-assay/assay/harness/report/results"
)

// WriteFiles leaves the report in a folder, which it creates if needed: as JUnit, and as suite.json for the page that
// `assay report` writes. suite names what the scenarios ran on.
func (r *Report) WriteFiles(dir, suite string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.suite
	s.Name, s.Seconds = suite, r.seconds()
	text, err := junit(s)
	if err != nil {
		return err
	}
	s.Started = s.Started.UTC()
	return errors.Join(
		results.WriteFile(filepath.Join(dir, results.JUnitFile), text),
		s.Write(filepath.Join(dir, results.SuiteFile)))
}

// junit is a suite in the format in which CI systems show results.
func junit(s results.Suite) ([]byte, error) {
	all := reporters.JUnitTestSuite{Name: s.Name, Timestamp: s.Started.Format("2006-01-02T15:04:05")}
	for _, t := range s.Tests {
		test := reporters.JUnitTestCase{Name: t.Name, Classname: s.Name, Status: t.Outcome, Time: t.Seconds}
		switch t.Outcome {
		case results.Skipped:
			test.Skipped = &reporters.JUnitSkipped{Message: t.Failure}
			all.Skipped++
		case results.Failed:
			message := strings.Join(append([]string{t.Failure}, details(t)...), "\n")
			test.Failure = &reporters.JUnitFailure{Message: message, Type: "failed"}
			all.Failures++
		}
		all.TestCases = append(all.TestCases, test)
		all.Time += test.Time
	}
	for i, message := range s.Errors {
		all.TestCases = append(all.TestCases, reporters.JUnitTestCase{
			Name: fmt.Sprintf("outside of any scenario (%d)", i+1), Classname: s.Name, Status: "error",
			Error: &reporters.JUnitError{Message: message, Type: "error"},
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
