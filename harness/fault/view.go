package fault

import (
	"maps"
	"slices"
	"time"
)

// View is what the operator sees of a resource, or of all resources, under a WatchFault. A WatchFault controls it through the
// methods that it calls while the injector is locked: in Begin, onEvent and onAction. The steps pause, resume, expire, crash and
// goBack belong to whenIdle, which runs them without the lock, except pause.
type View struct {
	injector *Injector
	fault    *scheduled
	target   string
	paused   bool                // the watches deliver no events
	versions map[string]string   // the resourceVersion of each resource that a new instance lists during the pause
	expired  bool                // the watches end with 410 instead of resuming
	resumed  chan struct{}       // closed at the end of the pause
	onEvent  func(deleting bool) // called after the operator has received an event; deleting tells that the object is being deleted
	onAction func()              // called when the next action begins during the pause
}

// includes reports whether the view covers a resource. Leases are excluded, because an operator that cannot lead does nothing.
func (v *View) includes(target string) bool {
	return v != nil && (v.target == target || v.target == AllTargets && target != leases)
}

const leases = "leases.coordination.k8s.io"

// action returns the number of the current action.
func (v *View) action() int { return v.injector.schedule.actions }

// remember keeps the versions that the operator has seen.
func (v *View) remember() { v.versions = maps.Clone(v.injector.watches.observed) }

// pause withholds events from now on.
func (v *View) pause() {
	if v.paused = true; v.versions == nil {
		v.remember()
	}
	v.injector.watches.withheld = append(v.injector.watches.withheld, Withheld{Target: v.target, From: time.Now()})
}

// whenIdle adds steps that Release takes when the operator is idle. They are pending once the fault has triggered.
func (v *View) whenIdle(steps ...func()) {
	v.injector.release.steps = append(v.injector.release.steps, steps...)
	if !v.fault.triggeredAt.IsZero() {
		v.signalPending()
	}
}

func (v *View) signalPending()  { v.injector.release.signal() }
func (v *View) isPending() bool { return v.injector.release.calm.Err() != nil }

// resume ends the pause.
func (v *View) resume() { v.end(false) }

// expire ends the paused watches with 410.
func (v *View) expire() { v.end(true) }

func (v *View) end(expired bool) {
	v.injector.mu.Lock()
	defer v.injector.mu.Unlock()
	watches := &v.injector.watches
	if watches.current != v || !v.paused {
		return
	}
	watches.current, v.expired = nil, expired
	watches.withheld[len(watches.withheld)-1].To = time.Now()
	close(v.resumed)
}

// crash crashes the operator.
func (v *View) crash() { v.injector.crashInstance() }

// goBack restarts the operator, which then sees the remembered versions.
func (v *View) goBack() {
	v.injector.mu.Lock()
	v.onEvent = nil
	v.pause()
	v.injector.trigger(v.fault)
	v.injector.mu.Unlock()
	v.crash()
}

// Withheld is an interval in which the watches of a resource delivered no events, or a write was delayed.
type Withheld struct {
	// Target is the resource, AllTargets for all of them, or the write.
	Target   string
	IsWrite  bool
	From, To time.Time // To is the zero time while it lasts
}

// Between returns how long it lasted between two times.
func (w Withheld) Between(start, end time.Time) time.Duration {
	if w.From.After(start) {
		start = w.From
	}
	if !w.To.IsZero() && w.To.Before(end) {
		end = w.To
	}
	return max(0, end.Sub(start))
}

// watches is what an injector knows of the operator's watches.
type watches struct {
	observed map[string]string // the resourceVersion of each resource that its watch delivered last
	current  *View             // of the WatchFault that has begun; nil if none has, or it has ended
	withheld []Withheld        // also the delayed writes
	ends     chan struct{}     // closed by EndWatches
}

// Withheld returns the intervals in which watches were paused, and writes delayed.
func (in *Injector) Withheld() []Withheld {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.watches.withheld)
}

// begin begins a WatchFault. The caller holds the lock.
func (in *Injector) begin(of *scheduled) {
	in.watches.current = &View{injector: in, fault: of, target: of.At.Target, resumed: make(chan struct{})}
	of.Type.(WatchFault).Begin(in.watches.current)
}

// pausedView returns the view of a resource whose watches are paused, or nil. The caller holds the lock.
func (w *watches) pausedView(target string) *View {
	if w.current.includes(target) && w.current.paused {
		return w.current
	}
	return nil
}

// withhold records that a paused view withholds an event. It returns nil if the watch is not paused.
func (in *Injector) withhold(target string) *View {
	in.mu.Lock()
	defer in.mu.Unlock()
	view := in.watches.pausedView(target)
	if view != nil {
		if in.trigger(view.fault); len(in.release.steps) > 0 {
			in.release.signal()
		}
	}
	return view
}

// observe records the resourceVersion that the operator has seen of a resource, unless the watch is paused.
func (in *Injector) observe(target, version string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if version != "" && in.watches.pausedView(target) == nil {
		in.watches.observed[target] = version
	}
}

// delivered records that the operator has received an event that reports a change.
func (in *Injector) delivered(target string, deleting bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if view := in.watches.current; view.includes(target) && view.onEvent != nil {
		view.onEvent(deleting)
	}
}

// staleVersion returns the resourceVersion at which a new instance must list a resource; empty for the latest.
func (in *Injector) staleVersion(target string) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	if view := in.watches.pausedView(target); view != nil && in.lives.starts > 1 {
		return view.versions[target]
	}
	return ""
}
