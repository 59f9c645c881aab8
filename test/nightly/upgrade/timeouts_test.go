package upgrade

import "time"

const (
	// timeout limits every wait. Most waits take less than a second, but a shared machine can be slow.
	timeout = time.Minute
	// stableFor is how long a final state must stay unchanged. It is several times the operator's debounce interval.
	stableFor = 2 * time.Second
)
