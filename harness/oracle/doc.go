// Package oracle checks properties that hold for any operator, so that a test does not have to assert individual
// fields. Each check has its own file:
//
//   - The final state is the same with and without faults (diff.go). Nondeterminism holds what varies anyway.
//   - Generated values that several fields share still match (agreement.go).
//   - Every deletion finishes (deletions.go), and a deleted child is recreated (recreates.go).
//   - No object is created or deleted more often than in the reference (counts.go).
//   - Every step succeeds in time (late.go), and the writes that an unstable run repeats are named
//     (stable.go).
//   - No request is repeated in a hot loop (retries.go).
//   - The operator does not panic (panics.go).
//   - A resource that is updated ends in the same state as one that is created with that spec (transition.go).
//   - The operator uses exactly the permissions that its role grants (permissions.go).
//
// The oracles evaluate the data recorded by package record. If an operator reaches the desired state and stays there
// despite failures, Anvil (OSDI'24) calls this eventually stable reconciliation. Sieve (OSDI'22) also compares final
// states, and so does Acto (SOSP'23), which compares a new deployment with an update to the same spec.
package oracle
