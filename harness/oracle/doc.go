// Package oracle judges operators by properties that hold for any of them, so that a test does not have to
// state what it expects field by field:
//
//   - with or without faults on the way, the end state is the same: Snapshot, Diff
//   - a resource that was changed ends like one that was created with that spec: TransitionOracle
//   - no request is repeated in a hot loop while the API server refuses it: BoundedRetries
//   - the operator uses every permission that its role grants, and no other: Permissions
//
// It judges what package record has recorded. That the desired state is reached and stays, despite failures,
// is what Anvil (OSDI'24) calls eventually stable reconciliation. Comparing end states is the oracle of
// Sieve (OSDI'22), and of Acto (SOSP'23), which compares a fresh deployment with a transition to the same
// specification.
package oracle
