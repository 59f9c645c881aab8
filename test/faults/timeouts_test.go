package faults_test

import "time"

const (
	// stepTimeout limits how long a resource may take to reach a state, including operator restarts and back-offs.
	stepTimeout = 30 * time.Second
	// sharedTimeout replaces stepTimeout if one operator handles many resources in parallel.
	sharedTimeout = 2 * stepTimeout
	// stableFor is how long a final state must stay unchanged. It is longer than the operator's reportDelay.
	stableFor = 500 * time.Millisecond

	// walkTimeout limits how long the operator may take to converge during a walk, including back-offs.
	walkTimeout = 3 * stepTimeout
)
