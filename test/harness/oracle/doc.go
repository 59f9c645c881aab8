// Package oracle judges operators by properties that hold for any of them, so that a test need
// not say what it expects field by field:
//
//   - an operator that has converged is silent: Recorder.WaitIdle
//   - what it has brought about stays as it is: Frozen
//   - however it got there, with or without faults on the way, the end is the same: Snapshot, Diff
//   - a resource that was changed ends as one that was created like that: TransitionOracle
//   - what holds in the end did so at every version that a watcher could see: History
//   - each operation costs a known number of API requests: Recorder.Requests
//   - none is repeated in a hot loop while it is refused: BoundedRetries
//   - what a role grants is used, and nothing else: Permissions
//
// That the desired state is reached and stays, despite failures, is what Anvil (OSDI'24) calls
// eventually stable reconciliation. Comparing end states is the oracle of Sieve (OSDI'22), which
// found most of its bugs by it, and of Acto (SOSP'23), which compares a fresh deployment with a
// transition to the same specification. The check for a resourceVersion that becomes stable is
// modelled on Cluster API's.
package oracle
