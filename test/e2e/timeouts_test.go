package e2e

import (
	"time"

	"github.com/operator-assay/assay/harness/cluster"
)

// How long the suite waits, and for what.
const (
	// runTimeout is for the whole run. What has not ended by then is evaluated and torn down, which a timeout of the go
	// command would not do.
	runTimeout = 40 * time.Minute
	// teardownTimeout is for what must be done even after the run's context has ended.
	teardownTimeout = 3 * time.Minute
	// stopTimeout is for an operator that is asked to end, as long as the grace period of its Pod.
	stopTimeout = 10 * time.Second
	// historyTimeout is for watches that are not in step with one another: a status may be seen before the Pod that it
	// names.
	historyTimeout = 30 * time.Second
	// answerTimeout is for one request of the prober. A lost one is never answered; on a busy machine an answer is only late.
	answerTimeout = 10 * time.Second
	// pollInterval is for states that no watch reports, such as what a port answers.
	pollInterval = 50 * time.Millisecond
)

// stepTimeout is for a state to come about. It covers, on a machine of two cores with several scenarios at once, the 15 s
// for which a dead operator's Lease holds, and the 30 s after which the garbage collector of a new kind cluster looks for kinds.
func stepTimeout() time.Duration {
	switch testCluster.Provider {
	case cluster.KWOK:
		return 90 * time.Second
	case cluster.Existing:
		return 5 * time.Minute // images are pulled, nodes are added
	default:
		return 2 * time.Minute
	}
}

// hangTimeout ends a step that does not end by itself: each bounds its own waiting.
func hangTimeout() time.Duration { return 3 * stepTimeout() }

// barrierTimeout is for the other scenarios to get as far as this one, which may take a step's time twice: to come there,
// and to wait for the machine.
func barrierTimeout() time.Duration { return 2 * stepTimeout() }
