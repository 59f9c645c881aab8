package upgrade

import "time"

// How long the suite waits, and for what.
const (
	// timeout is for any state. Most take less than a second; a shared machine may be slow.
	timeout = time.Minute
	// stableFor is how long nothing may change in a final state: several times what the operator debounces.
	stableFor = 2 * time.Second
)
