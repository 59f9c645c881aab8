package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity is what a failure means to those who use the operator.
type Severity string

// The severities.
const (
	Panic   Severity = "panic"    // the operator's code panicked
	Lost    Severity = "lost"     // the final state is wrong, or is never reached
	HotLoop Severity = "hot-loop" // requests are repeated without a back-off, or without an end
	Lied    Severity = "lied"     // an object was untrue meanwhile, such as a status
	Late    Severity = "late"     // the final state is right, but was reached later than the limit
	Churn   Severity = "churn"    // objects were created or deleted more often than necessary
)

// Severities are all of them, the worst first.
var Severities = []Severity{Panic, Lost, HotLoop, Lied, Late, Churn}

// severityOf is the severity of a finding, by its oracle.
var severityOf = map[string]Severity{
	"panics": Panic, "converges": Lost, "reference": Lost, "stable": HotLoop, "bounded-retries": HotLoop, "invariants": Lied, "late": Late, "counts": Churn,
}

// worse tells whether a severity is worse than another.
func (s Severity) worse(than Severity) bool {
	return slices.Index(Severities, s) < slices.Index(Severities, than)
}

// ParseSeverities reads severities, such as those of a flag.
func ParseSeverities(names []string) ([]Severity, error) {
	var all []Severity
	for _, name := range names {
		severity := Severity(strings.TrimSpace(name))
		if !slices.Contains(Severities, severity) {
			return nil, fmt.Errorf("%q is no severity: want some of %v", name, Severities)
		}
		all = append(all, severity)
	}
	return all, nil
}

// FailsOn are the severities that fail a run unless others are chosen.
var FailsOn = []Severity{Panic, Lost, HotLoop, Lied}

// Severity is the worst of the findings.
func (p Plan) Severity() Severity {
	worst := Severities[len(Severities)-1]
	for _, finding := range p.Findings {
		if severity := finding.severity(); severity.worse(worst) {
			worst = severity
		}
	}
	return worst
}

// severity is the oracle's; one that is new has found something wrong.
func (f Finding) severity() Severity { return cmp.Or(severityOf[f.Oracle], Lost) }

// Confirmation is how often a failure came again.
type Confirmation struct {
	// Played is how often the plan was run, the first time included, and Failed how often it failed alike.
	Played int `json:"played"`
	Failed int `json:"failed"`
	// PlayedWithoutFault and FailedWithoutFault are about the same scenario without a fault.
	PlayedWithoutFault int `json:"playedWithoutFault"`
	FailedWithoutFault int `json:"failedWithoutFault"`
}

// Unstable tells whether the failure does not come with the fault at least two times of three, or comes without it,
// too. In a run in which the fault does not trigger, it cannot come with it.
func (c *Confirmation) Unstable() bool {
	return c != nil && (c.Failed < 2 || c.FailedWithoutFault > 0)
}

// compare sorts what came again before what did not, and that before what was not run again.
func (c *Confirmation) compare(other *Confirmation) int {
	rank := func(c *Confirmation) int {
		switch {
		case c == nil:
			return 2
		case c.Unstable():
			return 1
		}
		return 0
	}
	return cmp.Compare(rank(c), rank(other))
}

func (c *Confirmation) String() string {
	return fmt.Sprintf("%d of %d times with the fault, %d of %d times without it", c.Failed, c.Played, c.FailedWithoutFault, c.PlayedWithoutFault)
}
