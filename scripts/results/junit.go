package results

import (
	"encoding/xml"
	"fmt"
	"os"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"
)

// readJUnit reads what the end-to-end suite writes: scenarios, and errors outside of any.
func readJUnit(file string) ([]Result, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var suites reporters.JUnitTestSuites
	if err := xml.Unmarshal(text, &suites); err != nil {
		return nil, fmt.Errorf("%s is no JUnit file: %w", file, err)
	}
	var all []Result
	for _, suite := range suites.TestSuites {
		for _, test := range suite.TestCases {
			r := Result{
				Tier: tierOf(file), Scenario: test.Name, Outcome: Passed,
				Story: test.Error == nil, Took: time.Duration(test.Time * float64(time.Second)),
			}
			switch {
			case test.Failure != nil || test.Error != nil:
				r.Outcome = Failed
			case test.Skipped != nil:
				r.Outcome = Skipped
			}
			all = append(all, r)
		}
	}
	return all, nil
}
