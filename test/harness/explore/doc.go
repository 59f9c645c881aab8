// Package explore plays every scenario under every fault, and judges each by what the scenario did
// without any.
//
// An Explorer first plays a scenario twice without a fault. That gives the reference: the writes that
// the operator makes, in their order, each of which is a place to die; the end state; and which fields
// of it differ between two runs, so that nobody has to list what is random. Then it plays the scenario
// once for each fault, in a namespace of its own with an operator of its own, many side by side.
//
// The oracles are those of Sieve (OSDI'22) and Anvil (OSDI'24), and none of them knows what the
// operator is for: it converges, it stays so, it is silent, it ends where it ends without the fault,
// it has created and deleted what it does without the fault, nothing that must always hold was ever
// fatal, and it does not retry in a hot loop.
//
// Sieve runs each plan in a cluster of its own and takes minutes for it. Here the API server is shared
// and the operator an ordinary manager of the test process, or any binary behind a proxy: a plan takes
// about a second, and several run at once.
package explore
