package explore

import (
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/operator-assay/assay/test/harness/faultinject"
)

// JUnitPackage marks the test suites of an explorer's JUnit file. There, a suite is a category of faults, a class
// a scenario and a test case a plan; one whose fault never triggered is skipped.
const JUnitPackage = "explore"

// WriteResults leaves the results in a folder, which it makes if need be: results.json with a result a line, and
// junit.xml.
func WriteResults(dir string, results []Result) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(dir, "results.json"))
	if err != nil {
		return err
	}
	if err := errors.Join(WriteJSON(file, results), file.Close()); err != nil {
		return err
	}
	return writeJUnit(filepath.Join(dir, "junit.xml"), results)
}

func writeJUnit(path string, results []Result) error {
	var all reporters.JUnitTestSuites
	for _, category := range faultinject.Categories {
		suite := reporters.JUnitTestSuite{Name: string(category), Package: JUnitPackage}
		for _, r := range results {
			if r.Fault.Type.Category() == category {
				addCase(&suite, r)
			}
		}
		if suite.Tests == 0 {
			continue
		}
		all.TestSuites = append(all.TestSuites, suite)
		all.Tests, all.Failures, all.Time = all.Tests+suite.Tests, all.Failures+suite.Failures, all.Time+suite.Time
	}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append([]byte(xml.Header), text...), 0o644)
}

func addCase(suite *reporters.JUnitTestSuite, r Result) {
	test := reporters.JUnitTestCase{Name: r.Fault.String(), Classname: r.Scenario, Status: "passed", Time: r.Duration.Seconds()}
	switch {
	case len(r.Findings) > 0:
		var messages []string
		for _, finding := range r.Findings {
			messages = append(messages, finding.Oracle+": "+finding.Message)
		}
		test.Status, test.Failure = "failed", &reporters.JUnitFailure{
			Type: r.Findings[0].Oracle, Message: strings.Join(messages, "\n"), Description: r.String(),
		}
		suite.Failures++
	case !r.Triggered:
		test.Status, test.Skipped = "skipped", &reporters.JUnitSkipped{Message: "the fault never triggered"}
		suite.Skipped++
	}
	suite.TestCases = append(suite.TestCases, test)
	suite.Tests++
	suite.Time += test.Time
}
