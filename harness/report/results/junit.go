package results

import (
	"encoding/xml"
	"strings"

	"github.com/onsi/ginkgo/v2/reporters"
)

// junitPackage is the package of all test suites in the JUnit file of an exploration. A test suite corresponds to a
// fault category, a class to a scenario and a test case to a plan. Plans whose fault did not trigger are skipped.
// Findings without a fault are in a separate test suite.
const junitPackage = "explore"

// withoutFault is the name of the test suite and the test cases for findings without a fault.
const withoutFault = "no-fault"

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
	if len(e.WithoutFault) > 0 {
		suite := reporters.JUnitTestSuite{Name: withoutFault, Package: junitPackage}
		for _, f := range e.WithoutFault {
			suite.TestCases = append(suite.TestCases, reporters.JUnitTestCase{
				Name: withoutFault, Classname: f.Scenario, Status: "failed",
				Failure: &reporters.JUnitFailure{Type: string(f.Oracle), Message: string(f.Oracle) + ": " + f.Message},
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
