package integration

import "time"

// timeout is how long a spec waits for any state. Most states take milliseconds, but on a busy machine a spec may have to wait
// for the operator's longest back-off of 15 s.
const timeout = 20 * time.Second

// How long else the suite waits, and for what.
const (
	// stableFor is how long nothing may change in a final state: several times what the operator debounces.
	stableFor = time.Second
	// namespaceDeletion is for the end of a namespace: its controller looks again only every few seconds, more of them each
	// time.
	namespaceDeletion = 30 * time.Second
	// pollInterval is for states that no watch reports, such as what a port answers.
	pollInterval = 10 * time.Millisecond

	// outageTimeout is for a state that is reached after an outage, which takes half a minute where a machine is busy.
	outageTimeout = 2 * time.Minute
	// recoveryTime is how long after the API server's return the operator may take to watch all of its kinds again: up to 30 s
	// is client-go's own back-off. What the control plane took to start is added, because that shows how busy the machine is.
	recoveryTime = 35 * time.Second
	// A leader that cannot renew its Lease for leaseRenewDeadline gives up. Others may lead after leaseDuration.
	leaseDuration, leaseRenewDeadline, leaseRetry = 6 * time.Second, 4 * time.Second, 500 * time.Millisecond
)
