package results

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/verdict"
)

// Cause is the failed plans of one cause.
type Cause struct {
	verdict.Group
	// Unconfirmed reports that the exploration has not come to run an example again.
	Unconfirmed bool
	// Places are where the faults were, most failures first.
	Places []Place
}

// Place is a request with the types of the faults that made plans fail there.
type Place struct {
	Request string
	Types   []string
	Plans   []int
}

// Causes groups the failed plans.
func Causes(plans []Plan) []Cause {
	var failures []verdict.Failure
	for i, p := range plans {
		if !p.Passed {
			failures = append(failures, verdict.Failure{Index: i, Findings: p.Findings, Confirmation: p.Confirmation, Triggered: p.Triggered, IsPair: p.Then != "", Effort: p.Run.Effort()})
		}
	}
	var causes []Cause
	for _, group := range verdict.Groups(failures) {
		cause := Cause{Group: group}
		for _, i := range slices.Sorted(slices.Values(group.Plans)) {
			cause.add(plans[i], i)
		}
		slices.SortStableFunc(cause.Places, func(a, b Place) int { return cmp.Compare(len(b.Plans), len(a.Plans)) })
		causes = append(causes, cause)
	}
	return causes
}

// Causes are those of the failed plans. While an exploration runs, or if it was interrupted, causes that are not confirmed come after
// those that are.
func (e Exploration) Causes() []Cause {
	causes := Causes(e.Plans)
	if !e.Interrupted {
		return causes
	}
	for i := range causes {
		causes[i].Unconfirmed = causes[i].Confirmation == nil
	}
	slices.SortStableFunc(causes, func(a, b Cause) int { return cmp.Compare(a.doubt(), b.doubt()) })
	return causes
}

// doubt is greater the less is known about whether the fault is to blame.
func (c Cause) doubt() int { return slices.Index([]string{unconfirmed, unstable}, c.Standing()) }

// Names for a cause that the fault may not be to blame for.
const (
	unstable    = "unstable"
	unconfirmed = "unconfirmed"
)

// Standing is the severity, or why it is not known.
func (c Cause) Standing() string {
	switch {
	case c.Confirmation.Unstable():
		return unstable
	case c.Unconfirmed:
		return unconfirmed
	}
	return string(c.Severity)
}

// IsDoubtful reports whether it is not known that the fault is to blame.
func (c Cause) IsDoubtful() bool { return c.Standing() != string(c.Severity) }

// Effort is how much there is to read in a timeline. A run without one comes last.
func (r *Run) Effort() int {
	if r == nil {
		return math.MaxInt
	}
	return len(r.Requests) + len(r.Versions) + 100*len(r.Steps)
}

func (c *Cause) add(p Plan, index int) {
	request := p.request()
	i := slices.IndexFunc(c.Places, func(place Place) bool { return place.Request == request })
	if i < 0 {
		i = len(c.Places)
		c.Places = append(c.Places, Place{Request: request})
	}
	place := &c.Places[i]
	place.Plans = append(place.Plans, index)
	if !slices.Contains(place.Types, p.Types()) {
		place.Types = append(place.Types, p.Types())
	}
}

// request is the verb, the resource and the name of the request at which the fault applies.
func (p Plan) request() string {
	words := strings.Fields(p.At)
	if len(words) < 3 {
		return "any request"
	}
	if words[2] == "-" {
		words = words[:2]
	}
	return strings.Join(words[:min(len(words), 3)], " ")
}
