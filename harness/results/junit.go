package results

import (
	"encoding/xml"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2/reporters"
)

// junitPackage is the package of all test suites. A suite is a fault category, a class is a scenario and a test case is
// a plan. Plans that passed without triggering their fault are reported as skipped.
const junitPackage = "explore"

// withoutFault is the name of the test suite and the test cases for findings in fault-free runs.
const withoutFault = "no-fault"

func (e Exploration) junit() ([]byte, error) {
	var suites []reporters.JUnitTestSuite
	add := func(suite string, test reporters.JUnitTestCase) {
		i := slices.IndexFunc(suites, func(s reporters.JUnitTestSuite) bool { return s.Name == suite })
		if i < 0 {
			i = len(suites)
			suites = append(suites, reporters.JUnitTestSuite{Name: suite, Package: junitPackage})
		}
		suites[i].TestCases = append(suites[i].TestCases, test)
	}
	for _, p := range e.Plans {
		add(p.Category, p.testCase())
	}
	for _, f := range e.WithoutFault {
		add(withoutFault, reporters.JUnitTestCase{Name: withoutFault, Classname: f.Scenario, Status: Failed,
			Failure: &reporters.JUnitFailure{Type: string(f.Oracle), Message: string(f.Oracle) + ": " + f.Message}})
	}
	return encodeJUnit(suites)
}

func (p Plan) testCase() reporters.JUnitTestCase {
	test := reporters.JUnitTestCase{Name: p.Fault(), Classname: p.Scenario, Status: p.State(), Time: p.Seconds}
	switch test.Status {
	case Failed:
		var messages []string
		for _, finding := range p.Findings {
			messages = append(messages, string(finding.Oracle)+": "+finding.Message)
		}
		test.Failure = &reporters.JUnitFailure{Type: string(p.Findings[0].Oracle), Message: strings.Join(messages, "\n"), Description: p.text()}
	case Missed:
		test.Skipped = &reporters.JUnitSkipped{Message: "the fault never triggered"}
	}
	return test
}

// Outcomes of a test.
const (
	Passed  = "passed"
	Failed  = "failed"
	Skipped = "skipped"
	Missed  = "missed" // a plan passed, but its fault was not triggered
)

// WriteJUnit writes a suite to a JUnit file in the directory. It sets the totals, and creates the directory if needed.
func WriteJUnit(dir string, suite reporters.JUnitTestSuite) error {
	text, err := encodeJUnit([]reporters.JUnitTestSuite{suite})
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, JUnitFile), text)
}

// encodeJUnit returns the content of a JUnit file. It sets the totals of the suites.
func encodeJUnit(suites []reporters.JUnitTestSuite) ([]byte, error) {
	all := reporters.JUnitTestSuites{TestSuites: suites}
	for i := range suites {
		s := &suites[i]
		for _, c := range s.TestCases {
			s.Tests++
			s.Time += c.Time
			switch {
			case c.Error != nil:
				s.Errors++
			case c.Failure != nil:
				s.Failures++
			case c.Skipped != nil:
				s.Skipped++
			}
		}
		all.Tests, all.Errors, all.Failures, all.Time = all.Tests+s.Tests, all.Errors+s.Errors, all.Failures+s.Failures, all.Time+s.Time
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), text...), err
}
