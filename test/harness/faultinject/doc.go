// Package faultinject is a transport that deals an operator what an API server and a cluster can: it dies
// at any request, answers are lost, refusals come, watches lag or miss what happened, another leader
// takes over. The operator is not modified and knows nothing of it; the API server behind it is real.
//
// A Injector stands between one operator and the API server for the time of one run. Each incarnation of
// the operator is a Instance, which passes all its requests through the Injector:
//
//	wire := faultinject.New(fault, scope)
//	config, life := wire.NewLife(config)   // a manager's rest.Config, or that of a Proxy
//	<-life.Crashed()                       // when the fault has killed it
//
// Faults are those of Sieve (OSDI'22): an operator that crashes between two of its writes, that sees
// an old state, also across a restart, and that misses a state in between. To these come refused
// requests, a lost answer, and a deposed leader's last write. Where Sieve decides by the objects'
// states, a fault here befalls the nth request of a kind, so that it is found again in the next run.
//
// What is simulated: Scope makes the one namespace of a run look like the whole cluster, so that many
// runs share an API server. It cannot prove what depends on several namespaces at once.
package faultinject
