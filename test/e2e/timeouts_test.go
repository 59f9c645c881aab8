package e2e

import (
	"time"

	"github.com/operator-assay/assay/harness/cluster"
)

const (
	// runTimeout limits the whole run. Unlike the timeout of go test, it leaves time for the report and the teardown.
	runTimeout = 40 * time.Minute
	// teardownTimeout limits the teardown, which also runs after a timeout or an interrupt.
	teardownTimeout = 3 * time.Minute
	// stopTimeout is how long the operator process may take to exit after SIGTERM. A Pod has a longer grace period,
	// because a running reconcile may wait for a slow admission webhook.
	stopTimeout = 10 * time.Second
	// historyTimeout allows for a lag between watches. For example, a status may arrive before the Pods that it lists.
	historyTimeout = 30 * time.Second
	pollInterval   = 50 * time.Millisecond
)

// stepTimeout is long enough for parallel scenarios on two cores. The Lease of a killed operator takes 15s to expire.
// In a new kind cluster, the garbage collector takes 30s to discover the custom resources.
func stepTimeout() time.Duration {
	switch testCluster.Provider {
	case cluster.KWOK:
		return 90 * time.Second
	case cluster.Existing:
		return 5 * time.Minute // may pull images and add nodes
	default:
		return 2 * time.Minute
	}
}
