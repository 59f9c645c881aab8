package main

import (
	"fmt"
	"slices"
	"strings"
)

// summary is a table of the suites, a table of the scenarios, one of the explored plans, and a list of the failures.
func summary(all []testResult) string {
	if len(all) == 0 {
		return "No folder has a junit.xml.\n"
	}
	return suiteTable(all) + scenarioTable(all) + heatTable(all) + failureList(all)
}

// suites are those that results are from, sorted.
func suites(all []testResult) []string {
	var names []string
	for _, r := range all {
		names = append(names, r.Suite)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func suiteTable(all []testResult) string {
	rows := [][]string{{"suite", passed, failed, skipped, "time"}}
	for _, suite := range suites(all) {
		count, took := map[string]int{}, 0.0
		for _, r := range all {
			if r.Suite == suite {
				count[r.Outcome]++
				took += r.Seconds
			}
		}
		rows = append(rows, []string{suite, number(count[passed]), number(count[failed]), number(count[skipped]), seconds(took)})
	}
	return table(rows)
}

// scenarioTable has a row for each scenario and a column for each suite that has run one without faults.
func scenarioTable(all []testResult) string {
	var columns, names []string
	for _, r := range all {
		if r.isScenario() && r.Plan == "" {
			names, columns = append(names, r.Test), append(columns, r.Suite)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(columns)
	slices.Sort(names)
	columns, names = slices.Compact(columns), slices.Compact(names)
	rows := [][]string{append(append([]string{"scenario"}, columns...), "writes")}
	for _, name := range names {
		cells, writes := make([]string, len(columns)), ""
		for _, r := range all {
			if r.Test == name && r.Plan == "" {
				cells[slices.Index(columns, r.Suite)] = outcome(r)
				writes += r.Writes
			}
		}
		rows = append(rows, append(append([]string{name}, cells...), writes))
	}
	return table(rows)
}

// heatTable has a row for each explored scenario and a column for each type of fault: how many of the plans failed.
func heatTable(all []testResult) string {
	type cell struct{ plans, failures int }
	cells := map[[2]string]*cell{}
	var scenarios, types []string
	for _, r := range all {
		if r.Plan == "" {
			continue
		}
		faultType, _, _ := strings.Cut(r.Plan, " ")
		if strings.Contains(r.Plan, ", then ") {
			faultType = "pairs"
		}
		key := [2]string{r.Test, faultType}
		if cells[key] == nil {
			cells[key] = &cell{}
		}
		cells[key].plans++
		if r.Outcome == failed {
			cells[key].failures++
		}
		if !slices.Contains(scenarios, r.Test) {
			scenarios = append(scenarios, r.Test)
		}
		if !slices.Contains(types, faultType) {
			types = append(types, faultType)
		}
	}
	if len(scenarios) == 0 {
		return ""
	}
	rows := [][]string{append([]string{"plans"}, types...)}
	for _, scenario := range scenarios {
		row := []string{scenario}
		for _, faultType := range types {
			switch c := cells[[2]string{scenario, faultType}]; {
			case c == nil:
				row = append(row, "")
			case c.failures > 0:
				row = append(row, fmt.Sprintf("❌ %d/%d", c.failures, c.plans))
			default:
				row = append(row, number(c.plans))
			}
		}
		rows = append(rows, row)
	}
	return table(rows)
}

func failureList(all []testResult) string {
	var b strings.Builder
	for _, r := range all {
		if r.Outcome == failed {
			fmt.Fprintf(&b, "- ❌ %s: %s\n", r.Suite, r.name())
		}
	}
	return b.String()
}

func outcome(r testResult) string {
	switch r.Outcome {
	case passed:
		return "✅ " + seconds(r.Seconds)
	case failed:
		return "❌ " + seconds(r.Seconds)
	default:
		return skipped
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

func number(n int) string { return fmt.Sprint(n) }

func seconds(s float64) string { return fmt.Sprintf("%.1fs", s) }
