package explore

import "time"

// conditions are how a run is played, beside its fault.
type conditions struct {
	// lateFactor is how many times longer than it should a step may take under a fault until it counts as failed, and not
	// only as late.
	lateFactor time.Duration
	// watchLife is how often all watches end, as each does at an API server from time to time; 0 for never.
	watchLife time.Duration
	// awaited is a difference that the run waits for when it has reached the state without it; nil for none.
	awaited *difference
}

// usual are the conditions of plans and references.
var usual = conditions{lateFactor: 2}

// confirming are the conditions of what is run again: two minutes a step by default, and watches that end. What an operator
// heals by a resync, or when it has listed again, is late by then, and not lost. An API server ends each watch within an
// hour, and some clients after five minutes.
var confirming = conditions{lateFactor: 6, watchLife: 40 * time.Second}
