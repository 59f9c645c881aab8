package explore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/scenario"
)

// resyncs measures the operator's resync period. It keeps operators running after their runs have converged. Any
// requests they send while nothing is changing must come from a resync.
type resyncs struct {
	player *player
	ctx    context.Context // canceled to stop the operators
	cancel context.CancelFunc
	kinds  sync.Map // the kinds of the scenarios that were started

	mu   sync.Mutex
	runs []convergedRun
}

// convergedRun is a run whose operator keeps running.
type convergedRun struct {
	waiter    *waiter
	converged time.Time
}

func newResyncs(p *player) *resyncs {
	r := &resyncs{player: p}
	r.ctx, r.cancel = context.WithCancel(p.ctx)
	return r
}

// start runs a scenario without a fault in the background, in parallel with the plans, and keeps its operator running.
// It does nothing if it was already called for the same kinds, if only one run is allowed at a time, or if the run
// would occupy an exclusive control plane.
func (r *resyncs) start(s scenario.Scenario, ref *reference) {
	if cap(r.player.slots) == 1 || ref.exclusive || r.hasStarted(fmt.Sprint(s.Kinds)) {
		return
	}
	r.player.operators.Go(func() {
		// Ignore the error. Without this run, only the resync period is unknown.
		_, _ = r.player.playOn(r.ctx, r.player.environments.shared, attempt{scenario: s, against: ref, conditions: conditions{lateFactor: lateFactor, converged: r.watch}})
	})
}

// hasStarted reports whether a run with these kinds has already been started. If not, it marks the kinds as started.
func (r *resyncs) hasStarted(kinds string) bool {
	_, started := r.kinds.LoadOrStore(kinds, true)
	return started
}

func (r *resyncs) watch(ctx context.Context, w *waiter) {
	r.mu.Lock()
	r.runs = append(r.runs, convergedRun{w, time.Now()})
	r.mu.Unlock()
	<-ctx.Done()
}

// period returns the longest idle time after which an operator sent a request although nothing had changed, or 0 if
// there was no such request. It does not detect a resync that only reads from the cache.
func (r *resyncs) period() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	var period time.Duration
	for _, run := range r.runs {
		period = max(period, longestPause(run.converged, run.waiter.requestsSince(run.converged)))
	}
	return period
}
