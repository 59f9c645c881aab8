package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/operator-assay/assay/harness/report/results"
)

// rate is what became of a test in all runs in which it was not skipped.
type rate struct {
	runs, failures    int
	shortest, longest float64 // seconds
}

func (r rate) percent() float64 { return 100 * float64(r.failures) / float64(r.runs) }

// rates are by suite and test.
type rates map[[2]string]*rate

func ratesOf(all []testResult) rates {
	tests := rates{}
	for _, r := range all {
		if r.Outcome == results.Skipped {
			continue
		}
		key := [2]string{r.suite, r.Name}
		if tests[key] == nil {
			tests[key] = &rate{shortest: r.Seconds}
		}
		test := tests[key]
		test.runs++
		if r.Outcome == results.Failed {
			test.failures++
		}
		test.shortest, test.longest = min(test.shortest, r.Seconds), max(test.longest, r.Seconds)
	}
	return tests
}

// markdown is a table of the tests, those first that fail most often.
func (r rates) markdown(runs int) string {
	tests := slices.SortedFunc(maps.Keys(r), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(r[b].percent(), r[a].percent()), slices.Compare(a[:], b[:]))
	})
	rows, flaky := [][]string{{"suite", "test", "runs", "failed", "rate", "time"}}, 0
	for _, key := range tests {
		test := r[key]
		if test.failures > 0 {
			flaky++
		}
		rows = append(rows, []string{key[0], key[1], fmt.Sprint(test.runs), fmt.Sprint(test.failures), fmt.Sprintf("%.0f%%", test.percent()),
			seconds(test.shortest) + " to " + seconds(test.longest)})
	}
	return fmt.Sprintf("### %d runs: %d of %d tests failed at least once\n\n%s", runs, flaky, len(r), table(rows))
}
