package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// Oracle is the name of an oracle.
type Oracle string

// The oracles.
const (
	Panics     Oracle = "panics"          // the operator's log contains no panic that does not also occur without a fault
	Invariants Oracle = "invariants"      // every version of the objects satisfies the invariants
	Retries    Oracle = "bounded-retries" // no request is repeated in a hot loop
	Counts     Oracle = "counts"          // no object is created or deleted more often than in the reference
	Reference  Oracle = "reference"       // the final state equals the reference
	Stable     Oracle = "stable"          // after the last step nothing changes, and the operator sends no request
	Converges  Oracle = "converges"       // every step of the scenario succeeds
	Late       Oracle = "late"            // every step succeeds in time
)

// Severity is what a failure means to those who use the operator.
type Severity string

// The severities.
const (
	Panicked Severity = "panic"    // the operator's code panicked
	Lost     Severity = "lost"     // the final state is wrong or is never reached
	HotLoop  Severity = "hot-loop" // requests are repeated without a back-off or without an end
	Lied     Severity = "lied"     // an object was temporarily untrue, such as a status
	TooLate  Severity = "late"     // the final state is right, but was reached later than the limit
	Churn    Severity = "churn"    // objects were created or deleted more often than necessary
)

// Severities are all severities, the worst first.
var Severities = []Severity{Panicked, Lost, HotLoop, Lied, TooLate, Churn}

// oracles lists every oracle with its severity, in the order in which they explain a failure: a panic names the line of the code,
// and an oracle that names an action of the operator says more than one that only sees the result.
var oracles = []struct {
	Oracle
	severity Severity
}{
	{Panics, Panicked},
	{Invariants, Lied},
	{Retries, HotLoop},
	{Counts, Churn},
	{Reference, Lost},
	{Stable, HotLoop},
	{Converges, Lost},
	{Late, TooLate},
}

// UnmarshalText returns an error if there is no oracle of that name.
func (o *Oracle) UnmarshalText(text []byte) error {
	*o = Oracle(text)
	if o.rank() < 0 {
		return fmt.Errorf("there is no oracle %q", text)
	}
	return nil
}

// rank is smaller the more the oracle explains. It is negative if there is no such oracle.
func (o Oracle) rank() int {
	for i, known := range oracles {
		if known.Oracle == o {
			return i
		}
	}
	return -1
}

// Severity is the severity of what the oracle finds. It panics if there is no such oracle.
func (o Oracle) Severity() Severity { return oracles[o.rank()].severity }

// isWorse reports whether a severity is worse than another one.
func (s Severity) isWorse(than Severity) bool {
	return slices.Index(Severities, s) < slices.Index(Severities, than)
}

// SeverityOf is the severity of the worst of the findings.
func SeverityOf(findings []Finding) Severity {
	worst := Severities[len(Severities)-1]
	for _, finding := range findings {
		if severity := finding.Oracle.Severity(); severity.isWorse(worst) {
			worst = severity
		}
	}
	return worst
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

// FailsOn are the severities that fail an exploration by default.
var FailsOn = []Severity{Panicked, Lost, HotLoop, Lied}
