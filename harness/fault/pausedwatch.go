package fault

import (
	"maps"
	"slices"
	"time"
)

// Withheld is an interval in which the watches of a resource delivered no events, or a write was kept back.
type Withheld struct {
	// Target is the resource, AllTargets for all of them, or the write.
	Target   string
	IsWrite  bool
	From, To time.Time // To is the zero time while it lasts
}

// Between is for how long it lasted between two times.
func (w Withheld) Between(start, end time.Time) time.Duration {
	if w.From.After(start) {
		start = w.From
	}
	if !w.To.IsZero() && w.To.Before(end) {
		end = w.To
	}
	return max(0, end.Sub(start))
}

// Withheld returns the intervals in which watches were paused, and writes delayed.
func (in *Injector) Withheld() []Withheld {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.withheld)
}

// resumeWatch resumes the paused watch, or ends it.
func (in *Injector) resumeWatch() {
	in.mu.Lock()
	paused := in.paused
	in.paused = nil
	if paused == nil {
		in.mu.Unlock()
		return
	}
	in.withheld[len(in.withheld)-1].To = time.Now()
	in.mu.Unlock()
	if paused.bound != nil {
		paused.bound.Stop()
	}
	close(paused.resumed)
}

// pausedWatch is a resource whose watches deliver no events.
type pausedWatch struct {
	fault    *dealt
	target   string
	versions map[string]string // the resourceVersion of each resource that a new instance lists
	expire   bool              // the watch ends with 410 instead of resuming
	bound    *time.Timer       // resumes it while the scenario waits; nil if nothing does
	resumed  chan struct{}     // closed by resumeWatch
}

// includes tells whether the watches of a resource are paused. That of Leases never is: an operator that cannot lead
// does nothing.
func (p *pausedWatch) includes(target string) bool {
	return p != nil && (p.target == target || p.target == AllTargets && target != leases)
}

const leases = "leases.coordination.k8s.io"

// markDelivered records that the operator has seen an event, perhaps that an object is being deleted. A time travel may
// have waited for it: one who has not seen the action stays where he is.
func (in *Injector) markDelivered(target string, deleting bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.past.includes(target) {
		return
	}
	if in.past.versions == nil && deleting {
		in.past.versions = maps.Clone(in.observedVersions)
	}
	if in.past.versions != nil && in.actions >= in.pastAfter && in.calm.Err() == nil {
		in.toRelease = append(in.toRelease, in.travel, in.resumeWatch)
		in.signalPending()
	}
}

// travel restarts the operator in the past.
func (in *Injector) travel() {
	in.mu.Lock()
	in.pause(in.past)
	in.trigger(in.past.fault)
	in.past = nil
	in.mu.Unlock()
	in.crashInstance()
}

// pausedWatchOf returns the pause of a resource's watches; nil if they are not paused.
func (in *Injector) pausedWatchOf(target string) *pausedWatch {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.paused.includes(target) {
		return nil
	}
	return in.paused
}

// markWithheld records that a paused watch withholds an event.
func (in *Injector) markWithheld(pause *pausedWatch) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.paused == pause {
		in.trigger(pause.fault)
		if len(in.toRelease) > 0 {
			in.signalPending()
		}
	}
}

// setObservedVersion records the resourceVersion that the operator has seen of a resource, unless the watch is
// paused.
func (in *Injector) setObservedVersion(target, version string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if version != "" && !in.paused.includes(target) {
		in.observedVersions[target] = version
	}
}

// staleVersion returns the resourceVersion at which a new instance must list a resource; empty for the latest.
func (in *Injector) staleVersion(target string) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.paused.includes(target) || in.starts < 2 {
		return ""
	}
	return in.paused.versions[target]
}
