package verdict

import (
	"fmt"
	"slices"
	"strings"
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

// Severity returns the severity of the oracle's findings. It panics if the oracle does not exist.
func (o Oracle) Severity() Severity { return oracles[o.rank()].severity }

// rank returns the position in Severities. The highest severity has rank 0.
func (s Severity) rank() int { return slices.Index(Severities, s) }

// SeverityOf returns the highest severity of the findings.
func SeverityOf(findings []Finding) Severity {
	rank := len(Severities) - 1
	for _, finding := range findings {
		rank = min(rank, finding.Oracle.Severity().rank())
	}
	return Severities[rank]
}

// ParseSeverities converts the values of a flag to severities.
func ParseSeverities(names []string) ([]Severity, error) {
	var all []Severity
	for _, name := range names {
		severity := Severity(strings.TrimSpace(name))
		if !slices.Contains(Severities, severity) {
			return nil, fmt.Errorf("unknown severity %q", name)
		}
		all = append(all, severity)
	}
	return all, nil
}

// FailsOn lists the severities that fail an exploration by default.
var FailsOn = []Severity{Panicked, Lost, HotLoop, Lied}
