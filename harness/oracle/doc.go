// Package oracle checks properties that hold for any operator, so that a test does not have to assert individual
// fields:
//
//   - The final state is the same with and without faults: Snapshot, Diff
//   - A resource that is updated ends in the same state as one that is created with that spec: TransitionOracle
//   - No rejected request is repeated in a hot loop: BoundedRetries
//   - The operator uses exactly the permissions that its role grants: Permissions
//
// The oracles evaluate the data recorded by package record. If an operator reaches the desired state and stays there
// despite failures, Anvil (OSDI'24) calls this eventually stable reconciliation. Sieve (OSDI'22) also compares final
// states, and so does Acto (SOSP'23), which compares a new deployment with an update to the same spec.
package oracle
