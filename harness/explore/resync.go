package explore

import (
	"context"
	"fmt"
	"time"

	"github.com/operator-assay/assay/harness/scenario"
)

// lastingRun is a run without a fault whose operator goes on after everything has converged: what it then does by itself is
// a resync.
type lastingRun struct {
	*run
	converged time.Time
}

// startLastingRun plays a scenario once more, without a fault, and lets the operator run until Close, unless one that has the
// same kinds does. The plans are played meanwhile, so that a period of minutes costs no time. A run that needs a control plane
// or a node port alone would keep it from the others, and does not last; nor does any where one run at a time is played.
func (e *Explorer) startLastingRun(s scenario.Scenario, ref *reference) {
	if cap(e.slots) == 1 || e.places.needed.Load() || e.ports.needsPort(s.Name) || e.isLasting(fmt.Sprint(s.Kinds)) {
		return
	}
	e.running.Go(func() {
		// An error costs no more than the period.
		_, _, _ = e.play(e.lasting, e.shared, attempt{Scenario: s, against: ref, conditions: conditions{lateFactor: usual.lateFactor, lasting: true}})
	})
}

// isLasting tells whether it is asked for some kinds for the second time.
func (e *Explorer) isLasting(kinds string) bool {
	_, lasting := e.lastingKinds.LoadOrStore(kinds, true)
	return lasting
}

// last keeps the operator running until ctx ends.
func (r *run) last(ctx context.Context) {
	r.mu.Lock()
	r.lastingRuns = append(r.lastingRuns, lastingRun{r, time.Now()})
	r.mu.Unlock()
	<-ctx.Done()
}

// resync is the longest time after which an operator was seen to send a request again although nothing had changed; 0 if
// none did. A resync that only reads a cache is not seen.
func (e *Explorer) resync() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	var period time.Duration
	for _, lasting := range e.lastingRuns {
		period = max(period, longestPause(lasting.converged, lasting.requestsSince(lasting.converged)))
	}
	return period
}
