package verdict

import (
	"fmt"
	"slices"
	"strings"
)

// Oracle is the name of an oracle.
type Oracle string

// Names of the oracles, with the property that each of them checks.
const (
	Panics     Oracle = "panics"          // the operator does not panic, unless it also panics without a fault
	Invariants Oracle = "invariants"      // all versions of all objects satisfy the invariants
	Retries    Oracle = "bounded-retries" // no request is repeated in a hot loop
	Counts     Oracle = "counts"          // no object is created or deleted more often than in the reference
	Reference  Oracle = "reference"       // the final state equals the reference
	Agreement  Oracle = "agreement"       // generated values that are equal in every reference run are equal in the final state
	Stable     Oracle = "stable"          // nothing changes after the last step, and the operator sends no requests
	Converges  Oracle = "converges"       // every step of the scenario succeeds
	Late       Oracle = "late"            // every step succeeds within the expected duration
	Deletions  Oracle = "deletions"       // every deletion finishes; checked without a fault, because Reference checks it otherwise
	Recreates  Oracle = "recreates"       // a child that is deleted is created again if other children are; checked without a fault
)

// Severity describes the impact of a failure on users of the operator.
type Severity string

// Severities of a failure.
const (
	Panicked Severity = "panic"    // the operator panicked
	Lost     Severity = "lost"     // the final state is wrong or was not reached
	HotLoop  Severity = "hot-loop" // requests are repeated without a backoff, or forever
	Lied     Severity = "lied"     // an object, such as a status, was temporarily wrong
	TooLate  Severity = "late"     // the final state is correct but was reached late
	Churn    Severity = "churn"    // objects were created or deleted more often than necessary
)

// Severities lists all severities, starting with the highest.
var Severities = []Severity{Panicked, Lost, HotLoop, Lied, TooLate, Churn}

// oracles lists all oracles and their severities. The oracles that explain a failure best come first: a panic
// identifies the line of code, and an oracle that identifies an action of the operator is more specific than one that
// checks only the final state.
var oracles = []struct {
	Oracle
	severity Severity
}{
	{Panics, Panicked},
	{Invariants, Lied},
	{Retries, HotLoop},
	{Counts, Churn},
	{Reference, Lost},
	{Agreement, Lost},
	{Stable, HotLoop},
	{Converges, Lost},
	{Late, TooLate},
	{Deletions, Lost},
	{Recreates, Lost},
}

// UnmarshalText returns an error if the oracle does not exist.
func (o *Oracle) UnmarshalText(text []byte) error {
	*o = Oracle(text)
	if o.rank() < 0 {
		return fmt.Errorf("there is no oracle %q", text)
	}
	return nil
}

// rank returns the index in oracles, or -1 if the oracle does not exist.
func (o Oracle) rank() int {
	for i, known := range oracles {
		if known.Oracle == o {
			return i
		}
	}
	return -1
}

// Severity returns the severity of the oracle's findings. It panics if the oracle does not exist.
func (o Oracle) Severity() Severity { return oracles[o.rank()].severity }

// isWorse reports whether s is a higher severity than the other one.
func (s Severity) isWorse(than Severity) bool {
	return slices.Index(Severities, s) < slices.Index(Severities, than)
}

// SeverityOf returns the highest severity of the findings.
func SeverityOf(findings []Finding) Severity {
	worst := Severities[len(Severities)-1]
	for _, finding := range findings {
		if severity := finding.Oracle.Severity(); severity.isWorse(worst) {
			worst = severity
		}
	}
	return worst
}

// ParseSeverities converts the values of a flag to severities.
func ParseSeverities(names []string) ([]Severity, error) {
	var all []Severity
	for _, name := range names {
		severity := Severity(strings.TrimSpace(name))
		if !slices.Contains(Severities, severity) {
			return nil, fmt.Errorf("unknown severity %q: use one or more of %v", name, Severities)
		}
		all = append(all, severity)
	}
	return all, nil
}

// FailsOn lists the severities that fail an exploration by default.
var FailsOn = []Severity{Panicked, Lost, HotLoop, Lied}
