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
	ID, Title              string
	Results                *results.Exploration
	Facts                  []fact
	Causes                 []cause
	Matrix                 matrix
	Plans                  []plan
	Failed, Missed, Passed int
	// Omitted is the number of failures whose timeline was omitted to limit the size of the page.
	Omitted int
}

type fact struct{ Name, Value string }

type cause struct {
	results.Cause
	Example plan
	Others  []plan
}

type plan struct {
	results.Plan
	ID        string
	State     string // failed, missed or passed
	Sign      string
	Took      string
	Search    string // text that the filter searches
	Notes     []note
	Timelines []timeline // of the run with the fault, and of the reference
	Log       []logLine
}

// note is a finding. First is its first line. Rest may contain a diff.
type note struct {
	Oracle, First string
	Rest          []diffLine
	IsLong        bool // true if Rest is collapsed
}

// diffLine is a line of a diff. Class is "add", "del" or empty.
type diffLine struct{ Class, Text string }

type logLine struct {
	At, Text string
	AtFault  bool // true for the first line after the fault
}

const (
	failed = "failed"
	missed = "missed"
	passed = "passed"
)

var signs = map[string]string{failed: "✗", missed: "–", passed: "✓"}

// newExploration returns the template data for an exploration. id is the prefix of all element IDs. room limits the
// number of events in the timelines.
func newExploration(id string, e *results.Exploration, room int) *exploration {
	x := &exploration{ID: id, Title: cmp.Or(e.About.Operator, "operator") + " under faults", Results: e, Facts: factsOf(e)}
	for i, p := range e.Plans {
		x.Plans = append(x.Plans, newPlan(fmt.Sprintf("%s-p%d", id, i+1), p))
		switch x.Plans[i].State {
		case failed:
			x.Failed++
		case missed:
			x.Missed++
		default:
			x.Passed++
		}
	}
	causes := e.Causes()
	x.addTimelines(causes, room)
	for _, c := range causes {
		x.Causes = append(x.Causes, x.cause(c))
	}
	x.Matrix = newMatrix(x.Plans)
	sortPlans(x.Plans, x.Matrix)
	return x
}

func factsOf(e *results.Exploration) []fact {
	scenarios := map[string]bool{}
	for _, p := range e.Plans {
		scenarios[p.Scenario] = true
	}
	var facts []fact
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, fact{name, value})
		}
	}
	add("plans", fmt.Sprintf("%d in %d scenarios%s", len(e.Plans), len(scenarios), e.SoFar()))
	add("took", results.Millis(e.Seconds*1000))
	add("started", e.Started.UTC().Format("2006-01-02 15:04 UTC"))
	add("operator", strings.TrimSpace(e.About.Operator+" "+e.About.Revision))
	add("Kubernetes", e.About.Kubernetes)
	add("assay", e.About.Assay)
	add("seed", fmt.Sprint(e.Seed))
	add("scenarios", e.About.Source)
	return facts
}

func newPlan(id string, p results.Plan) plan {
	v := plan{Plan: p, ID: id, State: passed, Took: results.Millis(p.Seconds * 1000)}
	switch {
	case !p.Passed:
		v.State = failed
	case !p.Triggered:
		v.State = missed
	}
	v.Sign = signs[v.State]
	var said []string
	for _, finding := range p.Findings {
		v.Notes = append(v.Notes, newNote(finding))
		said = append(said, string(finding.Oracle))
	}
	v.Search = strings.ToLower(strings.Join(append(said, p.String(), p.Category), " "))
	return v
}

// longNote is the number of lines above which a finding is collapsed, so that the timeline remains visible.
const longNote = 10

func newNote(finding verdict.Finding) note {
	first, rest, _ := strings.Cut(strings.TrimSpace(finding.Message), "\n")
	n := note{Oracle: string(finding.Oracle), First: first}
	for line := range strings.Lines(rest) {
		line = strings.TrimRight(line, "\n")
		class := ""
		switch {
		case strings.HasPrefix(line, "+"):
			class = "add"
		case strings.HasPrefix(line, "-"):
			class = "del"
		}
		n.Rest = append(n.Rest, diffLine{class, line})
	}
	n.IsLong = len(n.Rest) > longNote
	return n
}

// addTimelines adds timelines with at most room events in total. It adds the timelines of failed plans first, starting
// with one example of each cause.
func (x *exploration) addTimelines(causes []results.Cause, room int) {
	var order []int
	for round, more := 0, true; more; round++ {
		more = false
		for _, c := range causes {
			if round < len(c.Plans) {
				order, more = append(order, c.Plans[round]), true
			}
		}
	}
	for i, p := range x.Plans {
		if p.State != failed {
			order = append(order, i)
		}
	}
	for _, i := range order {
		p := &x.Plans[i]
		if p.Run == nil {
			p.shorten()
			continue
		}
		timelines := []timeline{newTimeline("with the fault", p.Run, p.Faults()...)}
		if reference := x.Results.References[p.Scenario]; reference != nil {
			timelines = append(timelines, newTimeline("reference", reference))
		}
		for _, t := range timelines {
			room -= len(t.Events)
		}
		if room < 0 {
			p.shorten()
			if p.State == failed {
				x.Omitted++
			}
			continue
		}
		p.Timelines, p.Log = timelines, logOf(p.Run)
	}
}

func (p *plan) shorten() {
	for i := range p.Notes {
		if n := &p.Notes[i]; n.IsLong {
			n.Rest, n.IsLong = append(n.Rest[:longNote:longNote], diffLine{"", "…"}), false
		}
	}
}

func logOf(r *results.Run) []logLine {
	var lines []logLine
	after := false
	for _, line := range r.Log {
		v := logLine{At: sinceStart(line.At), Text: line.Text}
		if r.Triggered != nil && !after && line.At >= *r.Triggered {
			v.AtFault, after = true, true
		}
		lines = append(lines, v)
	}
	return lines
}

const listedPlans = 200

func (x *exploration) cause(c results.Cause) cause {
	v := cause{Cause: c, Example: x.Plans[c.Plans[0]]}
	for _, i := range c.Plans[1:min(len(c.Plans), listedPlans)] {
		v.Others = append(v.Others, x.Plans[i])
	}
	return v
}

// sortPlans sorts the plans in the order of the matrix: by scenario, then by fault type. For the same scenario and
// fault type, failed plans come first.
func sortPlans(plans []plan, m matrix) {
	rank := map[string]int{failed: 0, missed: 1, passed: 2}
	slices.SortStableFunc(plans, func(a, b plan) int {
		return cmp.Or(
			cmp.Compare(m.rowOf(a), m.rowOf(b)),
			cmp.Compare(slices.Index(m.Columns, a.Types()), slices.Index(m.Columns, b.Types())),
			cmp.Compare(rank[a.State], rank[b.State]))
	})
}
