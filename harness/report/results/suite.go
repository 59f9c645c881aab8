package results

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"
)

// Suite contains the results of a test suite.
type Suite struct {
	Name    string
	Started time.Time
	Tests   []Test
	Errors  []string
}

// Test is the result of a scenario or spec.
type Test struct {
	Name    string
	Seconds float64
	Outcome string
	Steps   int
	// Failure describes the failure and the last observed state, or why the test was skipped.
	Failure string
	// Artifacts is the directory with the artifacts of a failure, and Rerun is the command to run the test again.
	Artifacts, Rerun string
}

// Values of Test.Outcome.
const (
	Passed  = "passed"
	Failed  = "failed"
	Skipped = "skipped"
)

// HasFailed reports whether a test failed or an error occurred outside of tests.
func (s Suite) HasFailed() bool {
	return len(s.Errors) > 0 || slices.ContainsFunc(s.Tests, func(t Test) bool { return t.Outcome == Failed })
}

// Details returns the lines to print after a failure: the location of the artifacts and the command to run the test
// again.
func (t Test) Details() (lines []string) {
	if t.Artifacts != "" {
		lines = append(lines, "artifacts   "+t.Artifacts)
	}
	if t.Rerun != "" {
		lines = append(lines, "rerun       "+t.Rerun)
	}
	return lines
}

// WriteJUnit writes the suite to a JUnit file in the directory. It creates the directory if needed.
func (s Suite) WriteJUnit(dir string) error {
	suite := reporters.JUnitTestSuite{Name: s.Name, Timestamp: s.Started.Format("2006-01-02T15:04:05")}
	for _, t := range s.Tests {
		test := reporters.JUnitTestCase{Name: t.Name, Classname: s.Name, Status: t.Outcome, Time: t.Seconds}
		switch t.Outcome {
		case Skipped:
			test.Skipped = &reporters.JUnitSkipped{Message: t.Failure}
		case Failed:
			message := strings.Join(append([]string{t.Failure}, t.Details()...), "\n")
			test.Failure = &reporters.JUnitFailure{Message: message, Type: Failed}
		}
		suite.TestCases = append(suite.TestCases, test)
	}
	for i, message := range s.Errors {
		suite.TestCases = append(suite.TestCases, reporters.JUnitTestCase{
			Name: fmt.Sprintf("outside of any scenario (%d)", i+1), Classname: s.Name, Status: "error",
			Error: &reporters.JUnitError{Message: message, Type: "error"},
		})
	}
	text, err := encodeJUnit([]reporters.JUnitTestSuite{suite})
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, JUnitFile), text)
}
