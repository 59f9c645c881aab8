// Package explore runs scenarios under faults and compares each run with a fault-free run of the same scenario.
//
// An Explorer first runs a scenario without faults until two consecutive runs show nothing new. It records a reference
// from these runs. The reference contains the final state, and the requests and watches at which faults can be
// injected. It also records which parts of the state vary between runs, so that users do not have to list them.
//
// The Explorer then runs the scenario once per fault. Each run has its own namespace and operator instance, and many
// runs execute in parallel. ExplorePairs injects two faults in one run, and Confirm reruns one failure per cause. No
// faults are injected into the operator's other processes, such as a webhook server; see Companion.
//
// The oracles are based on Sieve (OSDI'22) and Anvil (OSDI'24) and require no knowledge of the operator:
//
//   - The scenario converges and remains stable.
//   - The final state matches the reference.
//   - No object is created or deleted more often than in the reference.
//   - Every invariant holds for every version of the objects.
//   - No request is retried in a hot loop.
//
// Sieve runs each plan in a separate cluster, which takes minutes. Here, all runs share an API server, and the operator
// is either a manager in the test process or a binary behind a proxy. A plan takes about a second. Runs that write
// cluster-scoped objects or need a fixed node port use an exclusive control plane, and so do the runs of all scenarios
// that start later. It is cleaned up and reused after each run.
package explore
