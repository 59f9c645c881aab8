package explore

import (
	"context"
	"fmt"
	"time"

	"github.com/operator-assay/assay/harness/scenario"
)

// lastingRun is a run without a fault in which the operator keeps running after convergence. Requests that it then
// sends without any change are due to a resync.
type lastingRun struct {
	*run
	converged time.Time
}

// startLastingRun runs a scenario without a fault in the background and keeps its operator running until Close. Plans
// run at the same time, so this takes no extra time even if the resync period is minutes. It does nothing if there is
// already a lasting run with the same kinds, if only one run is allowed at a time, or if the run would block a
// control plane or a node port.
func (e *Explorer) startLastingRun(s scenario.Scenario, ref *reference) {
	if cap(e.slots) == 1 || e.environments.exclusive.Load() || e.environments.ports.needsPort(s.Name) || e.isLasting(fmt.Sprint(s.Kinds)) {
		return
	}
	e.running.Go(func() {
		// Ignore the error. Without this run, only the resync period is unknown.
		_, _, _ = e.play(e.lasting, e.environments.shared, attempt{Scenario: s, against: ref, conditions: conditions{lateFactor: usual.lateFactor, lasting: true}})
	})
}

// isLasting reports whether it was already called for these kinds.
func (e *Explorer) isLasting(kinds string) bool {
	_, lasting := e.lastingKinds.LoadOrStore(kinds, true)
	return lasting
}

// last records the lasting run and waits until ctx is canceled.
func (r *run) last(ctx context.Context) {
	r.mu.Lock()
	r.lastingRuns = append(r.lastingRuns, lastingRun{r, time.Now()})
	r.mu.Unlock()
	<-ctx.Done()
}

// resync returns the longest time after which an operator sent another request although nothing had changed. It
// returns 0 if no operator did. A resync that reads only from the cache is not detected.
func (e *Explorer) resync() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	var period time.Duration
	for _, lasting := range e.lastingRuns {
		period = max(period, longestPause(lasting.converged, lasting.requestsSince(lasting.converged)))
	}
	return period
}
