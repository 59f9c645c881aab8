package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/verdict"
)

type exploration struct {
	ID, Title string
	Results   *results.Exploration
	Facts     []fact
	Causes    []results.Cause
	Matrix    matrix
	Plans     []plan
	Counts    map[string]int // number of plans by state
	// Omitted is the number of failures whose timeline was omitted to limit the size of the page.
	Omitted int
}

type fact struct{ Name, Value string }

type plan struct {
	results.Plan
	ID        string
	Timelines []timeline // of the run with the fault, and of the reference
	FaultLine int        // index of the first line of the log after the fault, or -1
}

// note is a finding, split into its first line and the remaining lines, which may contain a diff.
type note struct {
	Oracle verdict.Oracle
	First  string
	Rest   []string
}

// newExploration returns the template data. Element IDs start with id. eventsLeft limits the number of timeline events.
func newExploration(id string, e results.Exploration, eventsLeft int) *exploration {
	e.Plans = slices.SortedStableFunc(slices.Values(e.Plans), func(a, b results.Plan) int { return strings.Compare(a.Scenario, b.Scenario) })
	x := &exploration{ID: id, Title: cmp.Or(e.About.Operator, "operator") + " under faults", Results: &e, Causes: e.Causes(), Counts: map[string]int{results.Failed: 0, results.Missed: 0, results.Passed: 0}}
	for i, p := range e.Plans {
		x.Plans = append(x.Plans, plan{Plan: p, ID: fmt.Sprintf("%s-p%d", id, i+1)})
		x.Counts[p.State()]++
	}
	x.Matrix = newMatrix(x.Plans)
	x.Facts = factsOf(&e, len(x.Matrix.Rows))
	x.addTimelines(eventsLeft)
	return x
}

func factsOf(e *results.Exploration, scenarios int) []fact {
	var facts []fact
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{name, value})
		}
	}
	add("plans", fmt.Sprintf("%d in %d scenarios%s", len(e.Plans), scenarios, e.SoFar()))
	add("took", took(e.Seconds))
	add("started", e.Started.UTC().Format("2006-01-02 15:04 UTC"))
	add("operator", strings.TrimSpace(e.About.Operator+" "+e.About.Revision))
	add("Kubernetes", e.About.Kubernetes)
	add("assay", e.About.Assay)
	add("seed", fmt.Sprint(e.Seed))
	add("scenarios", e.About.Source)
	return facts
}

func took(seconds float64) string { return results.Millis(seconds * 1000) }

// maxLines is the maximum number of lines shown after the first line of a finding.
const maxLines = 60

func newNote(finding verdict.Finding) note {
	lines := strings.Split(strings.TrimSpace(finding.Message), "\n")
	n := note{finding.Oracle, lines[0], lines[1:]}
	if len(n.Rest) > maxLines {
		n.Rest = append(n.Rest[:maxLines:maxLines], "…")
	}
	return n
}

// addTimelines adds timelines with at most eventsLeft events in total. It starts with one plan for each cause of
// failures, followed by the other failed plans and the passed plans.
func (x *exploration) addTimelines(eventsLeft int) {
	var examples, others []int
	for _, c := range x.Causes {
		examples, others = append(examples, c.Plans[0]), append(others, c.Plans[1:]...)
	}
	for i, p := range x.Plans {
		if p.Passed {
			others = append(others, i)
		}
	}
	for _, i := range append(examples, others...) {
		p := &x.Plans[i]
		if p.Run == nil {
			continue
		}
		timelines := []timeline{newTimeline("with the fault", p.Run, p.Faults()...)}
		if reference := x.Results.References[p.Scenario]; reference != nil {
			timelines = append(timelines, newTimeline("reference", reference))
		}
		for _, t := range timelines {
			eventsLeft -= len(t.Events)
		}
		switch {
		case eventsLeft >= 0:
			p.Timelines = timelines
			p.FaultLine = slices.IndexFunc(p.Run.Log, func(line results.LogLine) bool { return p.Run.Triggered != nil && line.At >= *p.Run.Triggered })
		case !p.Passed:
			x.Omitted++
		}
	}
}
