// Package fault injects faults into the requests of an operator, in the HTTP transport of its
// rest.Config: the operator crashes at any write, responses are lost, requests fail, watches lag or miss
// events, another leader takes over. The operator is not modified and does not notice; the API server behind
// the transport is real.
//
// An Injector stands between one operator and the API server during one run. Each start of the operator is an
// Instance, whose requests all pass through the Injector:
//
//	injector := fault.New(scope, crash)
//	config, instance := injector.NewInstance(config) // the rest.Config of a manager, or of Serve
//	<-instance.Crashed()                             // when the fault has crashed it
//
// Each type of fault is defined in a file of its own, which registers it. Most are those of Sieve (OSDI'22): an operator that
// crashes between two of its writes (intermediate states), that sees an old state, also across a restart (stale states), or
// that misses a state in between (unobserved states). Added are error responses, lost responses, the last write of a deposed
// leader, and a resource that a user replaces. A run may have two faults; the second waits for the first. Sieve triggers a fault
// by the states of objects. Here the nth request of a key triggers it, so that the next run can repeat it.
//
// What is simulated: Scope makes the one namespace of a run look like the whole cluster, so that many runs
// share an API server. What depends on several namespaces at once cannot be proven this way.
package fault
