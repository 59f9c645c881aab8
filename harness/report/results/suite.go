package results

import (
	"encoding/xml"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"
)

// Suite contains the results of a test suite. All times are in seconds relative to Started.
type Suite struct {
	Name    string
	Started time.Time
	Seconds float64
	// Phases contains the steps outside of tests, such as creating a cluster or building images.
	Phases []TestStep
	Tests  []Test
	Errors []string
}

// Test is the result of a scenario or spec.
type Test struct {
	Name          string
	From, Seconds float64
	Outcome       string
	Steps         []TestStep
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

// TestStep is a step of a test or a phase of a suite.
type TestStep struct {
	Name          string
	From, Seconds float64
	Failed        bool
}

// StepTimeLayout is the layout that Ginkgo uses for the start time of a step.
const StepTimeLayout = "01/02/06 15:04:05.999"

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
	all := reporters.JUnitTestSuite{Name: s.Name, Timestamp: s.Started.Format("2006-01-02T15:04:05")}
	for _, t := range s.Tests {
		test := reporters.JUnitTestCase{Name: t.Name, Classname: s.Name, Status: t.Outcome, Time: t.Seconds}
		for _, step := range t.Steps {
			start := s.Started.Add(time.Duration(step.From * float64(time.Second)))
			test.SystemErr += fmt.Sprintf("STEP: %s @ %s\n", step.Name, start.Format(StepTimeLayout))
		}
		switch t.Outcome {
		case Skipped:
			test.Skipped = &reporters.JUnitSkipped{Message: t.Failure}
			all.Skipped++
		case Failed:
			message := strings.Join(append([]string{t.Failure}, t.Details()...), "\n")
			test.Failure = &reporters.JUnitFailure{Message: message, Type: Failed}
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
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, JUnitFile), append([]byte(xml.Header), text...))
}
