package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
)

// timeout is the default wait timeout. Most states are reached within milliseconds, but on a busy machine a spec may
// have to wait out the operator's maximum back-off of 15 s.
const timeout = 20 * time.Second

// stepTimeout returns the timeout for each scenario step. Focused runs use a shorter timeout, so that a step that
// cannot succeed fails fast. The shorter timeout still covers the operator's first retry after one second. It grows
// with the startup time of the suite, which is longer on slow machines.
func stepTimeout() time.Duration {
	suite, _ := GinkgoConfiguration()
	if len(suite.FocusStrings) == 0 {
		return timeout
	}
	return max(1250*time.Millisecond, startup/2)
}

const (
	// stableFor is how long a final state must stay unchanged. It is several times the operator's debounce interval.
	stableFor = time.Second
	// namespaceDeletion allows for the namespace controller's retries, which are several seconds apart.
	namespaceDeletion = 90 * time.Second
	// pollInterval is the polling interval for state that cannot be watched, such as whether a port responds.
	pollInterval = 10 * time.Millisecond

	// outageTimeout is the maximum time to recover from an outage. Recovery takes half a minute on a busy machine.
	outageTimeout = 2 * time.Minute
	// A leader gives up if it cannot renew its Lease for leaseRenewDeadline. Another instance can become the leader
	// after leaseDuration.
	leaseDuration, leaseRenewDeadline, leaseRetry = 6 * time.Second, 4 * time.Second, 500 * time.Millisecond
)
