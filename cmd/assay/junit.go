package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/onsi/ginkgo/v2/reporters"

	"github.com/operator-assay/assay/test/harness/report/results"
)

// What becomes of a test.
const (
	passed  = "passed"
	failed  = "failed"
	skipped = "skipped"
)

// testResult is what became of a test in one run.
type testResult struct {
	Suite    string  `json:"suite"` // name of the folder that the results are in: integration, e2e-kind, explore …
	Test     string  `json:"test"`  // a scenario's name: webserver/create; other tests' full text
	Plan     string  `json:"plan,omitempty"`
	Category string  `json:"category,omitempty"` // of the plan's fault
	Outcome  string  `json:"outcome"`
	Seconds  float64 `json:"seconds"`
	Writes   string  `json:"writes,omitempty"` // what the scenario cost, and may cost: "4, of 3 to 5 allowed"
}

// name tells tests of a suite apart.
func (r testResult) name() string { return strings.TrimSpace(r.Test + " " + r.Plan) }

// isScenario tells whether the test is a scenario of a catalogue. Their names have a slash and no blank.
func (r testResult) isScenario() bool {
	return strings.Contains(r.Test, "/") && !strings.ContainsAny(r.Test, " :")
}

// readJUnit reads junit.xml of a folder and of the folders in it. One that is not there has not been written.
func readJUnit(dir string) ([]testResult, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, usagef("%w: run tests first, or name the folder that they have left", err)
	}
	var all []testResult
	for _, pattern := range []string{"junit.xml", "*/junit.xml"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			found, err := readJUnitFile(file)
			if err != nil {
				return nil, fmt.Errorf("%s is no JUnit file: %w", file, err)
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

func readJUnitFile(file string) ([]testResult, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var suites reporters.JUnitTestSuites
	if err := xml.Unmarshal(text, &suites); err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	folder := filepath.Base(filepath.Dir(absolute))
	var all []testResult
	for _, suite := range suites.TestSuites {
		if reason := suite.Properties.WithName("SpecialSuiteFailureReason"); reason != "" { // Ginkgo's: it does not compile, say
			first, _, _ := strings.Cut(strings.TrimSpace(reason), "\n")
			all = append(all, testResult{Suite: folder, Test: "the suite: " + first, Outcome: failed})
		}
		for _, test := range suite.TestCases {
			r := resultOf(test)
			r.Suite = folder
			if suite.Package == results.JUnitPackage {
				r.Test, r.Plan, r.Category = test.Classname, test.Name, suite.Name
			}
			if isResult(test) {
				all = append(all, r)
			}
		}
	}
	return all, nil
}

// isResult leaves out what Ginkgo writes besides: specs that a filter has left out, and setup that succeeded.
func isResult(test reporters.JUnitTestCase) bool {
	isSetup := strings.HasPrefix(test.Name, "[") && !strings.HasPrefix(test.Name, "[It] ")
	switch {
	case test.Skipped != nil:
		return !isSetup && test.Skipped.Message != "skipped"
	case test.Failure != nil, test.Error != nil:
		return true
	default:
		return !isSetup
	}
}

func resultOf(test reporters.JUnitTestCase) testResult {
	r := testResult{Test: results.ScenarioName(strings.TrimPrefix(test.Name, "[It] ")), Outcome: passed, Seconds: test.Time}
	switch {
	case test.Failure != nil, test.Error != nil:
		r.Outcome = failed
	case test.Skipped != nil:
		r.Outcome = skipped
	}
	if test.Properties != nil {
		_, writes, _ := strings.Cut(test.Properties.WithName("writes"), ": ")
		r.Writes = strings.TrimSuffix(writes, `"`)
	}
	return r
}
