package faults_test

import "time"

// How long the suite waits, and for what.
const (
	// stepTimeout is for a state of one resource, restarts and delays of the operator included.
	stepTimeout = 30 * time.Second
	// sharedTimeout is for a state that one operator reaches for maxParallel resources at once.
	sharedTimeout = 2 * stepTimeout
	// stableFor is how long nothing may change in a final state: more than the operator debounces.
	stableFor = 500 * time.Millisecond

	// walkTimeout is for a walk's operator to reach the model's state, through back-offs.
	walkTimeout = 3 * stepTimeout
	// idleWindow is how long a walk's operator must send nothing to count as idle, before a pending fault is released.
	idleWindow = 150 * time.Millisecond
	// settleWindow is how long nothing may change at the end of a walk: more than the operator debounces.
	settleWindow = 400 * time.Millisecond
	// shrinkTime is how long a failed walk is made shorter, at most.
	shrinkTime = "90s"
	// shrinkStallTimeout is the stallTimeout of walks that are tried while shrinking. It is short, which is enough unless
	// the operator's back-off takes longer.
	shrinkStallTimeout = 3 * time.Second

	// baseDelay is how long the operator waits before it retries a rejected child. Each further delay is twice as long.
	baseDelay = time.Second
	// debounceMax is the least time between two statuses of a resource that only report progress.
	debounceMax = 400 * time.Millisecond
)
