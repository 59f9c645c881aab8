// Package fault injects faults into an operator's requests. It wraps the HTTP transport in the operator's rest.Config.
// It can crash the operator before or after a write, lose responses, fail requests, delay watches, drop watch events,
// or let another leader take over. The operator is not modified, and the API server is real.
//
// An Injector intercepts one operator's requests during one run. It creates an Instance for each start of the operator:
//
//	injector := fault.New(scope, crash)
//	config, instance := injector.NewInstance(config) // the rest.Config of a manager, or of Serve
//	<-instance.Crashed()                             // blocks until the fault crashes the operator
//
// Each type of fault is registered in its own file, or together with related types. Most types are described in Sieve
// (OSDI'22): an operator crashes between two writes (intermediate states), sees an old state, possibly after a
// restart (stale states), or misses a state (unobserved states). This package adds error responses, lost responses, a
// late write by a former leader, and a resource that is replaced by a user.
//
// A run can have two faults. The second can be triggered only after the first. Unlike Sieve, which triggers a fault
// when an object reaches a certain state, this package triggers it at the nth request, which is reproducible.
//
// Several runs share an API server. Scope limits each run to one namespace that looks like the whole cluster.
// Behavior that involves several namespaces cannot be tested this way.
package fault
