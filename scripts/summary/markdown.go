package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operator-assay/assay/scripts/results"
)

// markdown is the whole summary.
func markdown(version string, all []results.Result, plans []results.Plans, reports []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### Kubernetes %s\n\n", version)
	if len(all)+len(plans) > 0 {
		b.WriteString(tierTable(all, plans))
		b.WriteString(storyTable(all, plans))
		b.WriteString(failureList(all))
	} else if len(reports) == 0 {
		b.WriteString("Nothing has left a result.\n")
	}
	for _, report := range reports {
		fmt.Fprintf(&b, "\n%s", report)
	}
	return b.String()
}

// tierTable counts.
func tierTable(all []results.Result, plans []results.Plans) string {
	rows := [][]string{{"tier", "passed", "failed", "skipped", "time"}}
	for _, tier := range results.Tiers(all) {
		count := map[string]int{}
		var took time.Duration
		for _, r := range all {
			if r.Tier == tier {
				count[r.Outcome]++
				took += r.Took
			}
		}
		rows = append(rows, []string{tier, number(count[results.Passed]), number(count[results.Failed]), number(count[results.Skipped]), seconds(took)})
	}
	if len(plans) > 0 {
		var tried, bad int
		var took time.Duration
		for _, p := range plans {
			tried, bad, took = tried+p.Tried, bad+p.Failed, took+p.Took
		}
		rows = append(rows, []string{"faults, plans", number(tried - bad), number(bad), "0", seconds(took)})
	}
	return table(rows)
}

// storyTable has a row for each scenario, and a column for each tier.
func storyTable(all []results.Result, plans []results.Plans) string {
	tiers := results.Tiers(all)
	header := append([]string{"scenario"}, tiers...)
	rows := [][]string{append(header, "writes", "fault plans")}
	for _, name := range stories(all, plans) {
		row := []string{name}
		var writes []string
		for _, tier := range tiers {
			cell := ""
			for _, r := range all {
				if r.Scenario == name && r.Tier == tier {
					cell = outcome(r)
					writes = append(writes, r.Writes)
				}
			}
			row = append(row, cell)
		}
		rows = append(rows, append(row, strings.Join(writes, ""), explored(name, plans)))
	}
	if len(rows) == 1 {
		return ""
	}
	return table(rows)
}

// stories are the names of the scenarios, sorted.
func stories(all []results.Result, plans []results.Plans) []string {
	var names []string
	for _, r := range all {
		if r.Story {
			names = append(names, r.Scenario)
		}
	}
	for _, p := range plans {
		names = append(names, p.Scenario)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// failureList names every test that has failed, scenarios or not.
func failureList(all []results.Result) string {
	var b strings.Builder
	for _, r := range all {
		if r.Outcome == results.Failed {
			fmt.Fprintf(&b, "- ❌ %s: %s\n", r.Tier, r.Scenario)
		}
	}
	return b.String()
}

func outcome(r results.Result) string {
	switch r.Outcome {
	case results.Passed:
		return "✅ " + seconds(r.Took)
	case results.Failed:
		return "❌ " + seconds(r.Took)
	default:
		return "skipped"
	}
}

// explored tells of the plans that were tried on a scenario, by their families.
func explored(name string, plans []results.Plans) string {
	var parts []string
	for _, p := range plans {
		if p.Scenario != name {
			continue
		}
		part := fmt.Sprintf("%s %d", p.Family, p.Tried)
		if p.Failed > 0 {
			part += fmt.Sprintf(", ❌ %d failed", p.Failed)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
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

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
