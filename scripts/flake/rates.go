package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/operator-assay/assay/scripts/results"
)

// test is one on one tier.
type test struct{ tier, scenario string }

// record is what became of a test in all runs that have run it.
type record struct {
	runs, failures    int
	shortest, longest time.Duration
}

func (r record) rate() float64 { return 100 * float64(r.failures) / float64(r.runs) }

// rates are the records of all tests. The zero value is empty.
type rates map[test]*record

func (r *rates) add(all []results.Result) {
	if *r == nil {
		*r = rates{}
	}
	for _, result := range all {
		if result.Outcome == results.Skipped {
			continue
		}
		key := test{result.Tier, result.Scenario}
		if (*r)[key] == nil {
			(*r)[key] = &record{shortest: result.Took}
		}
		record := (*r)[key]
		record.runs++
		if result.Outcome == results.Failed {
			record.failures++
		}
		record.shortest = min(record.shortest, result.Took)
		record.longest = max(record.longest, result.Took)
	}
}

// flaky is how many tests have failed at least once.
func (r rates) flaky() int {
	n := 0
	for _, record := range r {
		if record.failures > 0 {
			n++
		}
	}
	return n
}

// markdown is a table of the tests, those that fail most often first.
func (r rates) markdown(times int) string {
	tests := slices.SortedFunc(maps.Keys(r), func(a, b test) int {
		return cmp.Or(cmp.Compare(r[b].rate(), r[a].rate()), cmp.Compare(a.tier, b.tier), cmp.Compare(a.scenario, b.scenario))
	})
	var b strings.Builder
	fmt.Fprintf(&b, "### %d runs: %d of %d tests failed at least once\n\n", times, r.flaky(), len(r))
	b.WriteString("| tier | test | runs | failed | rate | time |\n|---|---|---|---|---|---|\n")
	for _, t := range tests {
		record := r[t]
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %.0f%% | %.1fs to %.1fs |\n", t.tier, strings.ReplaceAll(t.scenario, "|", `\|`),
			record.runs, record.failures, record.rate(), record.shortest.Seconds(), record.longest.Seconds())
	}
	return b.String()
}
