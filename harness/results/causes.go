package results

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/verdict"
)

// Cause is a group of failed plans with the same cause.
type Cause struct {
	verdict.Group
	// Unconfirmed is true if no plan in the group has been rerun, because the exploration has not finished.
	Unconfirmed bool
	// Points groups the plans by the request into which the fault was injected. The largest group comes first.
	Points []Point
}

// Point is a request and the plans that failed when a fault was injected into it.
type Point struct {
	Request string
	Types   []string
	Plans   []int
}

// Groups groups the failed plans by cause. Unlike Causes, it does not list the requests.
func Groups(plans []Plan) []verdict.Group {
	var failures []verdict.Failure
	for i, p := range plans {
		if !p.Passed {
			failures = append(failures, verdict.Failure{Index: i, Findings: p.Findings, Confirmation: p.Confirmation, Triggered: p.Triggered, IsPair: p.Then != "", Effort: p.Run.effort()})
		}
	}
	return verdict.Groups(failures)
}

// Causes groups the failed plans by cause. If the exploration is incomplete, causes that are not confirmed come last.
func (e Exploration) Causes() []Cause {
	var causes []Cause
	for _, group := range Groups(e.Plans) {
		cause := Cause{Group: group, Unconfirmed: e.Interrupted && group.Confirmation == nil}
		for _, i := range slices.Sorted(slices.Values(group.Plans)) {
			cause.add(e.Plans[i], i)
		}
		slices.SortStableFunc(cause.Points, func(a, b Point) int { return cmp.Compare(len(b.Plans), len(a.Plans)) })
		causes = append(causes, cause)
	}
	slices.SortStableFunc(causes, func(a, b Cause) int { return cmp.Compare(a.doubt(), b.doubt()) })
	return causes
}

// doubt returns a sort key that is higher for less certain causes.
func (c Cause) doubt() int { return slices.Index([]string{unconfirmed, unstable}, c.Standing()) }

const (
	unstable    = "unstable"
	unconfirmed = "unconfirmed"
)

// Standing returns the cause's severity, or "unstable" or "unconfirmed" if the fault may not have caused the failures.
func (c Cause) Standing() string {
	switch {
	case c.Confirmation.Unstable():
		return unstable
	case c.Unconfirmed:
		return unconfirmed
	}
	return string(c.Severity)
}

// IsDoubtful reports whether the cause is unstable or unconfirmed.
func (c Cause) IsDoubtful() bool { return c.Standing() != string(c.Severity) }

// effort returns a sort key that is higher for longer timelines. A plan without a timeline comes last.
func (r *Run) effort() int {
	if r == nil {
		return math.MaxInt
	}
	return len(r.Requests) + len(r.Versions) + 100*len(r.Steps)
}

func (c *Cause) add(p Plan, index int) {
	request := p.request()
	i := slices.IndexFunc(c.Points, func(p Point) bool { return p.Request == request })
	if i < 0 {
		i = len(c.Points)
		c.Points = append(c.Points, Point{Request: request})
	}
	point := &c.Points[i]
	point.Plans = append(point.Plans, index)
	if !slices.Contains(point.Types, p.Types()) {
		point.Types = append(point.Types, p.Types())
	}
}

func (p Plan) request() string {
	words := strings.Fields(p.At)
	if len(words) < 3 {
		return "any request"
	}
	return strings.TrimSuffix(strings.Join(words[:3], " "), " -") // a request without a name contains - instead
}
