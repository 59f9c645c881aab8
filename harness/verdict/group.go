package verdict

import (
	"cmp"
	"slices"
)

// Failure is what grouping needs to know of a failed plan.
type Failure struct {
	// Index identifies the plan.
	Index        int
	Findings     []Finding
	Confirmation *Confirmation
	// Triggered reports whether the fault applied, and IsPair whether there are two.
	Triggered, IsPair bool
	// Effort is how much there is to read in the plan's timeline.
	Effort int
}

// Group is the failures of one cause. One bug often fails a hundred plans.
type Group struct {
	Cause
	// Severity is the worst of its failures, and Severities are all of them.
	Severity   Severity
	Severities []Severity
	// Oracles are the oracles that object.
	Oracles []Oracle
	// Confirmation is how often the example came again; nil if none was run again.
	Confirmation *Confirmation
	// Plans are the indices of the failures, the best example first.
	Plans []int
}

// Groups groups failures by their cause: those that come again first, then the worst, then the largest.
func Groups(failures []Failure) []Group {
	var groups []Group
	for _, f := range slices.SortedStableFunc(slices.Values(failures), Failure.compareAsExample) {
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
	if severity := SeverityOf(f.Findings); severity.isWorse(g.Severity) {
		g.Severity = severity
	}
	for _, finding := range f.Findings {
		if !slices.Contains(g.Oracles, finding.Oracle) {
			g.Oracles = append(g.Oracles, finding.Oracle)
			g.Severities = append(g.Severities, finding.Oracle.Severity())
		}
	}
}

// rank sorts by severity, and unstable groups last.
func (g Group) rank() int {
	if g.Confirmation.Unstable() {
		return len(Severities)
	}
	return slices.Index(Severities, g.Severity)
}

// compareAsExample sorts failures, the best example first: one that came again, whose fault triggered, that has one fault, and whose
// timeline is short.
func (f Failure) compareAsExample(other Failure) int {
	order := func(yes, no bool) int {
		switch {
		case yes == no:
			return 0
		case yes:
			return -1
		}
		return 1
	}
	return cmp.Or(f.Confirmation.compare(other.Confirmation), order(f.Triggered, other.Triggered), order(other.IsPair, f.IsPair), cmp.Compare(f.Effort, other.Effort))
}
