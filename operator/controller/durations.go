package controller

import "time"

// Every duration of the operator is here, named for the event that it bounds.
const (
	// A failed reconcile, and a child that was refused, is retried after baseDelay, then after twice as long each time
	// up to maxDelay: a blocker that no watch reports is noticed within maxDelay after it is gone.
	baseDelay = 5 * time.Millisecond
	maxDelay  = 15 * time.Second

	// cacheReadTimeout bounds the wait of a read for the cache to show this operator's own writes. A read that
	// waited so long takes what the cache has: preconditions keep a stale decision from being written.
	cacheReadTimeout = time.Second

	// reconnectInterval is how often a watch is tried while connections to the API server are refused.
	reconnectInterval = time.Second

	// childWriteTimeout bounds a write of a child. Admission webhooks may take 10 s, which no other resource shall
	// wait for.
	childWriteTimeout = 5 * time.Second

	// reconcileTimeout bounds a reconcile: the writes of all children and what is read and written around them.
	reconcileTimeout = 15 * time.Second

	// A reconcile that took longer than slowReconcile makes its namespace a slow one for slowNamespace: such
	// namespaces share half of the workers, so that the others are never short of one.
	slowReconcile = 3 * time.Second // a busy API server alone is not so slow
	slowNamespace = 30 * time.Second
	// slowRetry is when the first request comes again that found these workers taken. The others follow, as many in each
	// slowRetry as there are workers.
	slowRetry = 200 * time.Millisecond

	// A status of a rollout under way is written when it has not changed for debounceQuiet, and after debounceMax
	// even if it still changes. That all is as the spec asks is written at once.
	debounceQuiet = 400 * time.Millisecond
	debounceMax   = 1200 * time.Millisecond
	// For each resource that has waited beside it, up to debounceCrowd, it waits longer, and from when the last of
	// them was complete: where a thousand roll out at once, the API server is better used to complete them than to
	// report that they have not.
	debounceQuietEach = 20 * time.Millisecond
	debounceMaxEach   = 100 * time.Millisecond
	debounceCrowd     = 1500

	// A child is repaired repairBurst times at once and then once every repairInterval: who keeps changing a
	// field is named in the status and not fought at full speed.
	repairInterval = maxDelay
	repairBurst    = 10

	// transientFailure is how long errors of the API server are expected to pass by themselves.
	transientFailure = 5 * time.Second

	// crashLoopMemory is after how long without a crash the kubelet forgets a container's crashes.
	crashLoopMemory = 10 * time.Minute
)

// ShutdownTimeout is how long a manager waits for reconciles that are under way when it is told to end. It is
// shorter than the manifest's terminationGracePeriodSeconds, so that the Lease is released.
const ShutdownTimeout = 8 * time.Second
