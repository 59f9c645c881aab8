package explore

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
)

// lastingRun is a run without a fault whose operator goes on after everything has converged: what it then does by itself is
// a resync.
type lastingRun struct {
	*run
	converged time.Time
}

// startLastingRuns plays one scenario for each set of kinds once more, without a fault, and lets the operators run until
// Close. The plans are played meanwhile, so that a period of minutes costs no time. A run that needs a control plane or a
// node port alone would keep it from the others, and does not last.
func (e *Explorer) startLastingRuns() {
	if e.places.needed.Load() {
		return
	}
	started := sets.New[string]()
	for _, s := range e.Scenarios {
		kinds, ref := fmt.Sprint(s.Kinds), e.reference(s.Name)
		if ref == nil || started.Has(kinds) || e.ports.needsPort(s.Name) {
			continue
		}
		started.Insert(kinds)
		e.running.Go(func() {
			// An error costs no more than the period.
			_, _, _ = e.play(e.lasting, e.shared, attempt{Scenario: s, against: ref, conditions: conditions{lateFactor: usual.lateFactor, lasting: true}})
		})
	}
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
