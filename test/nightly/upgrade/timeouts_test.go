package upgrade

import "time"

// Timeouts of the suite.
const (
	// timeout limits every wait. Most waits take less than a second, but a shared machine can be slow.
	timeout = time.Minute
	// stableFor is how long a final state must not change. It is several times the operator's debounce interval.
	stableFor = 2 * time.Second
)
