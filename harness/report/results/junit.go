package results

import (
	"encoding/xml"
	"strings"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/operator-assay/assay/harness/verdict"
)

// junitPackage marks the test suites of an explorer's JUnit file. There, a suite is a category of faults, a class
// a scenario and a test case a plan; one whose fault never triggered is skipped. A panic without a fault is a case of a suite of
// its own.
const junitPackage = "explore"

// withoutFault is what a JUnit file has in place of a category and a plan of runs without a fault.
const withoutFault = "no-fault"

// junit is the exploration in the format in which CI systems show results.
func (e Exploration) junit() ([]byte, error) {
	var all reporters.JUnitTestSuites
	byCategory := map[string]int{}
	for _, p := range e.Plans {
		i, known := byCategory[p.Category]
		if !known {
			i = len(all.TestSuites)
			byCategory[p.Category] = i
			all.TestSuites = append(all.TestSuites, reporters.JUnitTestSuite{Name: p.Category, Package: junitPackage})
		}
		addCase(&all.TestSuites[i], p)
	}
	if len(e.Panics) > 0 {
		suite := reporters.JUnitTestSuite{Name: withoutFault, Package: junitPackage}
		for _, p := range e.Panics {
			suite.TestCases = append(suite.TestCases, reporters.JUnitTestCase{
				Name: withoutFault, Classname: p.Scenario, Status: "failed",
				Failure: &reporters.JUnitFailure{Type: string(verdict.Panics), Message: string(verdict.Panics) + ": " + p.Message},
			})
			suite.Failures, suite.Tests = suite.Failures+1, suite.Tests+1
		}
		all.TestSuites = append(all.TestSuites, suite)
	}
	for _, suite := range all.TestSuites {
		all.Tests, all.Failures, all.Time = all.Tests+suite.Tests, all.Failures+suite.Failures, all.Time+suite.Time
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	return append([]byte(xml.Header), text...), err
}

func addCase(suite *reporters.JUnitTestSuite, p Plan) {
	test := reporters.JUnitTestCase{Name: p.Fault(), Classname: p.Scenario, Status: "passed", Time: p.Seconds}
	switch {
	case !p.Passed:
		var messages []string
		for _, finding := range p.Findings {
			messages = append(messages, string(finding.Oracle)+": "+finding.Message)
		}
		test.Status, test.Failure = "failed", &reporters.JUnitFailure{
			Type: string(p.Findings[0].Oracle), Message: strings.Join(messages, "\n"), Description: p.text(),
		}
		suite.Failures++
	case !p.Triggered:
		test.Status, test.Skipped = "skipped", &reporters.JUnitSkipped{Message: "the fault never triggered"}
		suite.Skipped++
	}
	suite.TestCases = append(suite.TestCases, test)
	suite.Tests++
	suite.Time += test.Time
}
