package verdict

import (
	"cmp"
	"slices"
)

// Failure is a failed plan.
type Failure struct {
	Index        int
	Findings     []Finding
	Confirmation *Confirmation
	// Triggered is true if the fault was injected. IsPair is true if the plan has two faults.
	Triggered, IsPair bool
	Effort            int // a sort key; the failure with the lowest effort is the example of its group
}

// Group contains the failures with the same cause. A single bug often causes a hundred plans to fail.
type Group struct {
	Cause
	Severity     Severity // the highest severity of the failures
	Oracles      []Oracle
	Confirmation *Confirmation // of the best example; nil if no plan was rerun
	Plans        []int         // indices of the failures, starting with the best example
}

// Groups returns the failures grouped by cause. Groups whose best example is unstable come last; see
// Confirmation.Unstable. The other groups are sorted by severity and then by size.
func Groups(failures []Failure) []Group {
	var groups []Group
	byExample := func(a, b Failure) int { return slices.Compare(a.asExample(), b.asExample()) }
	for _, f := range slices.SortedStableFunc(slices.Values(failures), byExample) {
		cause := CauseOf(f.Findings)
		i := slices.IndexFunc(groups, func(g Group) bool { return g.Cause == cause })
		if i < 0 {
			i = len(groups)
			groups = append(groups, Group{Cause: cause, Severity: SeverityOf(f.Findings), Confirmation: f.Confirmation})
		}
		groups[i].add(f)
	}
	first := func(g Group) int { return slices.Min(g.Plans) }
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(len(b.Plans), len(a.Plans)), cmp.Compare(first(a), first(b)))
	})
	return groups
}

func (g *Group) add(f Failure) {
	g.Plans = append(g.Plans, f.Index)
	g.Severity = Severities[min(g.Severity.rank(), SeverityOf(f.Findings).rank())]
	for _, finding := range f.Findings {
		if !slices.Contains(g.Oracles, finding.Oracle) {
			g.Oracles = append(g.Oracles, finding.Oracle)
		}
	}
}

func (g Group) rank() int {
	if g.Confirmation.Unstable() {
		return len(Severities)
	}
	return g.Severity.rank()
}

// asExample returns a sort key that puts the best example of a group first. It prefers reproduced failures, triggered
// faults, single faults and short timelines, in this order.
func (f Failure) asExample() []int {
	key := []int{f.Confirmation.rank(), 0, 0, f.Effort}
	if !f.Triggered {
		key[1] = 1
	}
	if f.IsPair {
		key[2] = 1
	}
	return key
}
