package faultinject

import (
	"cmp"
	"sync"
	"time"

	"github.com/operator-assay/assay/test/harness/record"
)

// addedLatency is what slow reads or writes take longer: much for an API server, little for a run.
const addedLatency = 100 * time.Millisecond

// burstDuration is long enough for oracle.BoundedRetries to tell a back-off, which asks a few times, from
// a hot loop, which asks hundreds of times.
const burstDuration = 2 * time.Second

// Injector stands between an operator and the API server for the time of one run. It deals the run's
// fault, and knows all that was asked.
type Injector struct {
	// Requests are what the operator sent, as it saw them answered, in all its lives.
	Requests record.Recorder

	fault Fault
	scope Scope

	mu               sync.Mutex
	counts           map[RequestKey]int // requests met so far; the points' Nth is 0
	actions          int
	triggeredAt      time.Time // when the fault first befell a request
	burstUntil       time.Time // until when it befalls others like that
	writes           []Write
	versions         map[string]string // the resourceVersion of each object, as last answered
	observedVersions map[string]string // the resourceVersion of each resource, as last told by its watch
	generatedNames   map[string]string // the names that the API server made, and what it made them from
	starts           int
	paused           *pausedWatch
	pendingSignal    chan struct{} // closed while something pending has befallen the operator
	signalled        bool          // pendingSignal is closed
	toRelease        []func()      // what Proceed has left to do
	instance         *Instance     // the newest
	startup          startup
	expected         watchSet // what the first incarnation had opened when it first came to rest
}

// New returns a wire that deals a fault; None deals nothing, to learn what there is to befall.
func New(fault Fault, scope Scope) *Injector {
	return &Injector{fault: fault, scope: scope, counts: map[RequestKey]int{}, versions: map[string]string{}, observedVersions: map[string]string{}, generatedNames: map[string]string{}, pendingSignal: make(chan struct{}), startup: newStartup()}
}

// TriggeredAt gives when the fault befell the operator; the zero time when it has not.
func (w *Injector) TriggeredAt() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.triggeredAt
}

// Starts is how many incarnations there were.
func (w *Injector) Starts() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.starts
}

// NextAction tells that the scenario's next action is about to happen.
func (w *Injector) NextAction() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.actions++
	if w.actions == w.fault.At.Nth {
		w.pauseWatch()
	}
}

// SetFault makes another fault the one that is dealt from now on: its At.Nth counts from the next request,
// and a view is held back at once. What only Proceed would have let go, goes first.
func (w *Injector) SetFault(fault Fault) {
	for w.Release() {
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at := fault.At
	at.Nth = 0
	fault.At.Nth += w.counts[at]
	w.fault, w.triggeredAt, w.burstUntil = fault, time.Time{}, time.Time{}
	w.pauseWatch()
}

// pauseWatch holds a view back, if that is the fault. The caller holds the lock.
func (w *Injector) pauseWatch() {
	if w.fault.Type.Category() != Staleness {
		return
	}
	w.paused = &pausedWatch{target: w.fault.At.Target, expire: w.fault.Type == MissedEvents, resumed: make(chan struct{})}
	if w.fault.Type == StaleRestart {
		w.toRelease = append(w.toRelease, w.crashInstance)
	}
	w.toRelease = append(w.toRelease, w.resumeWatch)
}

// signalPending tells that what is pending has begun to befall the operator. The caller holds the lock.
func (w *Injector) signalPending() {
	if !w.signalled {
		close(w.pendingSignal)
		w.signalled = true
	}
}

// Pending is closed when something is kept from the operator, or from the API server, that only Proceed lets
// go.
func (w *Injector) Pending() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pendingSignal
}

// Release takes a fault that lasts one step on, and tells whether there was one left. Call it when the
// operator has come to rest with what it knows: then it has done all that the fault can lead it to.
func (w *Injector) Release() bool {
	w.mu.Lock()
	if len(w.toRelease) == 0 {
		w.mu.Unlock()
		return false
	}
	next := w.toRelease[0]
	if w.toRelease = w.toRelease[1:]; len(w.toRelease) == 0 && w.signalled {
		w.pendingSignal, w.signalled = make(chan struct{}), false
	}
	w.mu.Unlock()
	next()
	return true
}

// crashInstance ends the newest incarnation.
func (w *Injector) crashInstance() {
	w.mu.Lock()
	life := w.instance
	w.mu.Unlock()
	life.crash()
}

// match counts a request and tells what befalls it, None if nothing does.
func (w *Injector) match(request *record.Request) (RequestKey, Type) {
	w.mu.Lock()
	defer w.mu.Unlock()
	point := RequestKey{Verb: request.Verb, Target: request.Target(), Name: cmp.Or(w.normalized(request.Name), "-")}
	w.counts[point]++
	at := w.fault.At
	at.Nth = 0
	nth := w.counts[point]
	befalls := point == at && (nth == w.fault.At.Nth || time.Now().Before(w.burstUntil))
	switch w.fault.Type {
	case SlowReads:
		befalls = request.Verb == "get" || request.Verb == "list"
	case SlowWrites:
		befalls = request.IsWrite()
	case Stale, StaleRestart, MissedEvents:
		befalls = false
	}
	point.Nth = nth
	if !befalls {
		return point, None
	}
	w.trigger()
	return point, w.fault.Type
}

// normalized is a name as it is in every run: "web-*" if the API server made it up from the prefix "web-". The caller
// holds the lock.
func (w *Injector) normalized(name string) string {
	return record.NormalizeName(cmp.Or(w.generatedNames[name], name), w.scope.Namespace)
}

// trigger notes when the fault first befalls the operator. The caller holds the lock.
func (w *Injector) trigger() {
	if w.triggeredAt.IsZero() {
		w.triggeredAt = time.Now()
		w.burstUntil = w.triggeredAt.Add(w.fault.Type.burst())
	}
}
