package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/report/page"
	"github.com/operator-assay/assay/harness/report/results"
)

// explored is what the explored plans are called among the suites.
const explored = "explore"

// testResult is what became of a test in one run: of a scenario, a spec, or an explored plan.
type testResult struct {
	suite string
	results.Test
}

// isScenario tells whether the test is a scenario of a catalogue, without a fault. Their names have a slash and no blank.
func (r testResult) isScenario() bool {
	return strings.Contains(r.Name, "/") && !strings.ContainsAny(r.Name, " :")
}

// testsOf are the tests of all suites and the plans of all explorations. What failed outside of any of these counts as one.
func testsOf(content page.Content) []testResult {
	var all []testResult
	for _, s := range content.Suites {
		for _, test := range s.Tests {
			all = append(all, testResult{s.Name, test})
		}
		for _, text := range s.Errors {
			all = append(all, testResult{s.Name, results.Test{Name: firstLine(text), Outcome: results.Failed}})
		}
	}
	for _, e := range content.Explorations {
		for _, p := range e.Panics {
			all = append(all, testResult{explored, results.Test{Name: p.Scenario + " without any fault", Outcome: results.Failed}})
		}
		for _, p := range e.Plans {
			outcome := results.Passed
			switch {
			case !p.Passed:
				outcome = results.Failed
			case !p.Triggered:
				outcome = results.Skipped
			}
			all = append(all, testResult{explored, results.Test{Name: p.String(), Outcome: outcome, Seconds: p.Seconds}})
		}
	}
	return all
}

// summary is a table of the suites, one of the scenarios, one of each exploration's plans, and a list of the failures.
func summary(content page.Content) string {
	all := testsOf(content)
	if len(all) == 0 {
		return "No folder has results.\n"
	}
	var b strings.Builder
	b.WriteString(suiteTable(all) + scenarioTable(all))
	for _, e := range content.Explorations {
		fmt.Fprintf(&b, "```\n%s```\n\n", e.Table())
	}
	for _, f := range failuresOf(content) {
		mark := "❌"
		if f.doubtful {
			mark = "⚠️"
		}
		fmt.Fprintf(&b, "- %s %s\n", mark, strings.TrimSuffix(f.title+": "+firstLine(f.message), ": "))
	}
	return b.String()
}

func suiteTable(all []testResult) string {
	var names []string
	counts, took := map[[2]string]int{}, map[string]float64{}
	for _, r := range all {
		names = append(names, r.suite)
		counts[[2]string{r.suite, r.Outcome}]++
		took[r.suite] += r.Seconds
	}
	slices.Sort(names)
	rows := [][]string{{"suite", results.Passed, results.Failed, results.Skipped, "time"}}
	for _, name := range slices.Compact(names) {
		row := []string{name}
		for _, outcome := range rows[0][1:4] {
			row = append(row, fmt.Sprint(counts[[2]string{name, outcome}]))
		}
		rows = append(rows, append(row, seconds(took[name])))
	}
	return table(rows)
}

// scenarioTable has a row for each scenario and a column for each suite that has run one without faults.
func scenarioTable(all []testResult) string {
	var columns, names []string
	cells := map[[2]string]string{}
	for _, r := range all {
		if r.isScenario() {
			names, columns = append(names, r.Name), append(columns, r.suite)
			cells[[2]string{r.Name, r.suite}] = outcome(r)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(columns)
	slices.Sort(names)
	columns = slices.Compact(columns)
	rows := [][]string{append([]string{"scenario"}, columns...)}
	for _, name := range slices.Compact(names) {
		row := []string{name}
		for _, suite := range columns {
			row = append(row, cells[[2]string{name, suite}])
		}
		rows = append(rows, row)
	}
	return table(rows)
}

func outcome(r testResult) string {
	switch r.Outcome {
	case results.Passed:
		return "✅ " + seconds(r.Seconds)
	case results.Failed:
		return "❌ " + seconds(r.Seconds)
	default:
		return r.Outcome
	}
}

// table is Markdown's; the first row is its header.
func table(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(cell, "|", `\|`))
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String() + "\n"
}

func seconds(s float64) string { return fmt.Sprintf("%.1fs", s) }

func firstLine(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}
