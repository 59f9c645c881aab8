package explore

import "time"

// defaultWatchLife is how often the watches end in a run that confirms a failure. An API server ends each watch within an hour,
// and some clients end theirs after five minutes. A run must not take that long.
const defaultWatchLife = 40 * time.Second

// conditions are how a run is played, beside its fault.
type conditions struct {
	// lateFactor is how many times longer than it should a step may take under a fault until it counts as failed, and not
	// only as late.
	lateFactor time.Duration
	// watchLife is how often all watches end, as each does at an API server from time to time; 0 for never.
	watchLife time.Duration
	// lateLimit is how long a step may take at least until it counts as failed; 0 for no more than lateFactor allows.
	lateLimit time.Duration
	// lasting tells that the operator goes on when the run has converged, until the explorer is closed.
	lasting bool
	// slots has one that the run holds; nil for the explorer's.
	slots chan struct{}
	// awaited is a difference that the run waits for when it has reached the state without it; nil for none.
	awaited *difference
}

// limit is how long a step may take that should not take longer than a time.
func (c conditions) limit(timely time.Duration) time.Duration {
	return max(c.lateFactor*timely, c.lateLimit)
}

// usual are the conditions of plans and references.
var usual = conditions{lateFactor: 2}

// confirming returns the conditions of what is run again: two minutes a step by default, or half as long again as the
// operator's resync period, and watches that end. What an operator heals by a resync, or when it has listed again, is late by
// then, and not lost.
func (e *Explorer) confirming() conditions {
	return conditions{lateFactor: 6, lateLimit: e.resync() * 3 / 2, watchLife: e.watchLife}
}

// timely returns how long a step should take: StepTimeout, or slowFactor times as long as the slowest step of the reference.
func (e *Explorer) timely(ref *reference) time.Duration {
	return max(e.StepTimeout, slowFactor*ref.slowest)
}
