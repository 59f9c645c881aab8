// Package explore plays every scenario under every fault, and compares each run with the same scenario without
// a fault.
//
// An Explorer first plays a scenario without a fault, until two runs in a row show nothing new. That gives the
// reference: the writes that the operator makes, at each of which it may crash; the final state; and what of it differs
// between the runs, so that nobody has to list what is random. Then it plays the scenario once for each fault, in a
// namespace of its own with an operator of its own, many at once, while other scenarios are learnt; Start explores scenarios that
// are found meanwhile, too. ExplorePairs plays two faults in one run. Confirm repeats one failure of each cause; with Options.SoFar
// that begins while plans are played. What runs beside an operator, such as a process for its webhooks, has none of its
// faults: see Beside.
//
// The oracles are those of Sieve (OSDI'22) and Anvil (OSDI'24), and need no knowledge of the operator: the
// scenario converges and stays stable, the final state equals the reference, objects are created and deleted as
// often as there, every invariant holds at every version, and no request is retried in a hot loop.
//
// Sieve runs each plan in a cluster of its own, which takes minutes. Here all runs share an API server, and the
// operator is a manager of the test process, or any binary behind a proxy: a plan takes about a second, and
// several run at once. Only what writes cluster-wide objects has, run by run, a control plane alone, which is cleared
// in between instead of started again.
package explore
