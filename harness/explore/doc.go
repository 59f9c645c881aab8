// Package explore runs scenarios under faults and compares each run with a fault-free run of the same scenario.
//
// An Explorer first runs a scenario without faults until two consecutive runs show nothing new. It records a reference
// from these runs: the final state and which parts of it vary, and the requests and watches at which faults can be
// injected. It then runs the scenario once per fault, and package verdict compares each run with the reference.
//
// Sieve (OSDI'22) runs each plan in a separate cluster, which takes minutes. Here, all runs share an API server, and
// each has its own namespace and operator, which is either a manager in the test process or a binary behind a proxy. A
// plan takes about a second. Runs that write cluster-scoped objects or need a fixed node port use an exclusive control
// plane, which is cleaned up and reused after each run.
package explore
