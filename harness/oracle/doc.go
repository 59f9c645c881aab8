// Package oracle checks properties that hold for any operator, so that a test does not have to assert individual
// fields. Each check has its own file:
//
//   - The final state is the same with and without faults (diff.go), except for the parts described by Nondeterminism.
//   - Generated values that several fields share still match (agreement.go).
//   - Every deletion finishes (deletions.go), and a deleted child is recreated (recreates.go).
//   - No object is created or deleted more often than in the reference (counts.go).
//   - Every step succeeds in time (late.go), and the state becomes stable (stable.go).
//   - No request is repeated in a hot loop (retries.go).
//   - The operator does not panic (panics.go).
//   - Updating a resource to a spec has the same result as creating a resource with that spec (transition.go).
//
// The oracles evaluate the data recorded by package record. Sieve (OSDI'22) and Acto (SOSP'23) also compare final
// states. Anvil (OSDI'24) defines eventually stable reconciliation, which means that an operator reaches the desired
// state and stays there despite failures.
package oracle
