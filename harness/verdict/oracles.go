package verdict

import (
	"fmt"
	"slices"
)

// Oracle is the name of an oracle.
type Oracle string

// Names of the oracles, with the property that each of them checks.
const (
	Panics     Oracle = "panics"          // the operator does not panic, unless it also panics in fault-free runs
	Invariants Oracle = "invariants"      // all versions of all objects satisfy the invariants
	Retries    Oracle = "bounded-retries" // no request is repeated in a hot loop
	Counts     Oracle = "counts"          // no object is created or deleted more often than in the reference
	Reference  Oracle = "reference"       // the final state matches the reference
	Agreement  Oracle = "agreement"       // generated values that match in every reference run match in the final state
	Stable     Oracle = "stable"          // nothing changes after the last step, and the operator sends no requests
	Converges  Oracle = "converges"       // every step of the scenario succeeds
	Late       Oracle = "late"            // every step succeeds within the expected duration
	Deletions  Oracle = "deletions"       // every deletion finishes in fault-free runs; Reference checks the other runs
	Recreates  Oracle = "recreates"       // a deleted child is recreated if other children are; checked in fault-free runs
)

// oracles lists all oracles and their severities. The oracles that explain a failure best come first: a panic
// identifies the line of code, and an action of the operator is more specific than the final state.
var oracles = []ranked{
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

type ranked struct {
	Oracle
	severity Severity
}

// UnmarshalText returns an error if the oracle does not exist.
func (o *Oracle) UnmarshalText(text []byte) error {
	*o = Oracle(text)
	if o.rank() < 0 {
		return fmt.Errorf("there is no oracle %q", text)
	}
	return nil
}

func (o Oracle) rank() int {
	return slices.IndexFunc(oracles, func(known ranked) bool { return known.Oracle == o })
}
