package faults_test

import "time"

const (
	// stepTimeout limits how long a resource may take to reach a state, including operator restarts and back-offs.
	stepTimeout = 30 * time.Second
	// sharedTimeout replaces stepTimeout if one operator handles maxParallel resources in parallel.
	sharedTimeout = 2 * stepTimeout
	// stableFor is how long a final state must stay unchanged. It is longer than the operator's debounce interval.
	stableFor = 500 * time.Millisecond

	// walkTimeout limits how long the operator may take to converge during a walk, including back-offs.
	walkTimeout = 3 * stepTimeout
	// settleWindow is how long a walk's operator must be idle before its state is compared. It is longer than the
	// operator's debounce interval.
	settleWindow = 500 * time.Millisecond

	// baseDelay is the delay before the operator's first retry of a rejected child. The delay doubles with each retry.
	baseDelay = time.Second
)
