package fault

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// watchView is the operator's view of one or all resources during a watchFault. The fault controls the view in begin,
// onEvent and onAction, which are called with the injector locked. These functions must not call resume, expire, crash
// or goBack, which would lock the injector again. Instead, they pass these methods to whenIdle.
type watchView struct {
	injector *Injector
	fault    *scheduled
	target   string
	paused   bool                // the watches deliver no events
	versions map[string]string   // the resourceVersion at which a new instance lists each resource during the pause
	expired  bool                // the watches fail with 410 instead of resuming
	resumed  chan struct{}       // closed at the end of the pause
	onEvent  func(deleting bool) // called after the operator has received an event; deleting is true if the object is being deleted
	onAction func()              // called when the next action begins during the pause
}

func (v *watchView) includes(target string) bool {
	return v != nil && (v.target == target || v.target == AllTargets)
}

func (v *watchView) remember() { v.versions = maps.Clone(v.injector.watches.observed) }

func (v *watchView) pause() {
	if v.paused = true; v.versions == nil {
		v.remember()
	}
	v.injector.watches.delays = append(v.injector.watches.delays, Delay{Target: v.target, From: time.Now()})
}

// whenIdle adds steps for Release to run. It closes the Pending channel if the fault has already been triggered.
func (v *watchView) whenIdle(steps ...func()) {
	v.injector.release.steps = append(v.injector.release.steps, steps...)
	if !v.fault.triggeredAt.IsZero() {
		v.injector.release.pending.send()
	}
}

func (v *watchView) resume() { v.end(false) }
func (v *watchView) expire() { v.end(true) }

func (v *watchView) end(expired bool) {
	v.injector.mu.Lock()
	defer v.injector.mu.Unlock()
	watches := &v.injector.watches
	if watches.current != v || !v.paused {
		return
	}
	watches.current, v.expired = nil, expired
	watches.delays[len(watches.delays)-1].To = time.Now()
	close(v.resumed)
}

func (v *watchView) crash() {
	v.injector.mu.Lock()
	newest := v.injector.lives.newest
	v.injector.mu.Unlock()
	newest.crash()
}

// goBack pauses the watches and crashes the operator. Until the pause ends, the next instance lists the saved versions.
func (v *watchView) goBack() {
	v.injector.mu.Lock()
	v.pause()
	v.injector.trigger(v.fault)
	v.injector.mu.Unlock()
	v.crash()
}

// Delay is a period during which a watch delivered no events or a write was delayed.
type Delay struct {
	// Target is the watched resource, or AllTargets if all watches were paused. For a write, it is the request key.
	Target   string
	IsWrite  bool
	From, To time.Time // To is zero while the period lasts
}

// Between returns how much of the period lies between start and end.
func (d Delay) Between(start, end time.Time) time.Duration {
	if d.From.After(start) {
		start = d.From
	}
	if !d.To.IsZero() && d.To.Before(end) {
		end = d.To
	}
	return max(0, end.Sub(start))
}

type watches struct {
	observed map[string]string // the last resourceVersion that each watch has delivered
	current  *watchView        // the view of the active watchFault, or nil
	delays   []Delay           // includes the delayed writes
}

// Delays returns the periods during which watches were paused or writes were delayed.
func (in *Injector) Delays() []Delay {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.watches.delays)
}

// begin starts a watchFault. The caller must hold the lock.
func (in *Injector) begin(of *scheduled) {
	in.watches.current = &watchView{injector: in, fault: of, target: of.At.Target, resumed: make(chan struct{})}
	of.Type.(*watchFault).begin(in.watches.current)
}

// pausedView returns the view of a resource if its watches are paused. The caller must hold the lock.
func (w *watches) pausedView(target string) *watchView {
	if w.current.includes(target) && w.current.paused {
		return w.current
	}
	return nil
}

// delayEvent must be called before an event is delivered. If the fault has paused the watch, delayEvent marks the fault
// as triggered and returns the paused view. Otherwise, it returns nil.
func (in *Injector) delayEvent(target string) *watchView {
	in.mu.Lock()
	defer in.mu.Unlock()
	view := in.watches.pausedView(target)
	if view != nil {
		if in.trigger(view.fault); len(in.release.steps) > 0 {
			in.release.pending.send()
		}
	}
	return view
}

// received must be called when the operator receives a list or a watch event. It records the latest resourceVersion
// that the operator saw for the resource, unless its watch is paused.
func (in *Injector) received(target string, event watch.EventType, object responseObject) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if object.ResourceVersion != "" && in.watches.pausedView(target) == nil {
		in.watches.observed[target] = object.ResourceVersion
	}
	if view := in.watches.current; event != watch.Bookmark && view.includes(target) && view.onEvent != nil {
		view.onEvent(event != watch.Deleted && object.DeletionTimestamp != nil)
	}
}

// staleVersion returns the resourceVersion at which a new instance lists a resource, or "" for the latest version.
func (in *Injector) staleVersion(target string) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	if view := in.watches.pausedView(target); view != nil && in.lives.starts > 1 {
		return view.versions[target]
	}
	return ""
}
