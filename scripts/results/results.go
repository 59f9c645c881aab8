// Package results reads what the suites leave in _artifacts, so that whoever sums it up need not know which
// suite writes which form.
package results

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What can become of a scenario.
const (
	Passed  = "passed"
	Failed  = "failed"
	Skipped = "skipped"
)

// Result is what became of a scenario, or of another test, on one tier.
type Result struct {
	// Tier is the name of the folder: integration, e2e-kind, e2e-kwok and so on.
	Tier string
	// Scenario is its name: webserver/create. Other tests are named by their full text.
	Scenario string
	// Story tells that it is a scenario of the catalogue or of the end-to-end suite.
	Story bool
	// Outcome is Passed, Failed or Skipped.
	Outcome string
	// Took is how long it took.
	Took time.Duration
	// Writes says how many requests it has cost, and how many it may: "4, of 3 to 5 allowed".
	// Empty where nothing counts them.
	Writes string
}

// readers are those of the reports' forms, by the patterns of their places.
var readers = map[string]func(file string) ([]Result, error){
	"e2e-*/junit.xml":         readJUnit,
	"integration/report.json": readGinkgo,
}

// Read reads what suites have left in a folder since a time: e2e-*/junit.xml, and integration/report.json,
// which Ginkgo writes. What is not there has not run.
func Read(dir string, since time.Time) ([]Result, error) {
	var all []Result
	for _, pattern := range slices.Sorted(maps.Keys(readers)) {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			info, err := os.Stat(file)
			if err != nil {
				return nil, err
			}
			if info.ModTime().Before(since) {
				continue
			}
			results, err := readers[pattern](file)
			if err != nil {
				return nil, err
			}
			all = append(all, results...)
		}
	}
	return all, nil
}

// Tiers are those that results are from, sorted.
func Tiers(all []Result) []string {
	var tiers []string
	for _, r := range all {
		tiers = append(tiers, r.Tier)
	}
	slices.Sort(tiers)
	return slices.Compact(tiers)
}

// tierOf is the name of the folder that a report lies in.
func tierOf(report string) string { return filepath.Base(filepath.Dir(report)) }

// oneLine is text that fits in a cell of a table.
func oneLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
