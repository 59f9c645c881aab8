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
func (in *Injector) TriggeredAt() time.Time {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.triggeredAt
}

// Starts is how many incarnations there were.
func (in *Injector) Starts() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.starts
}

// NextAction tells that the scenario's next action is about to happen.
func (in *Injector) NextAction() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.actions++
	if in.actions == in.fault.At.Nth {
		in.pauseWatch()
	}
}

// SetFault makes another fault the one that is dealt from now on: its At.Nth counts from the next request,
// and a view is held back at once. What only Proceed would have let go, goes first.
func (in *Injector) SetFault(fault Fault) {
	for in.Release() {
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	at := fault.At
	at.Nth = 0
	fault.At.Nth += in.counts[at]
	in.fault, in.triggeredAt, in.burstUntil = fault, time.Time{}, time.Time{}
	in.pauseWatch()
}

// pauseWatch holds a view back, if that is the fault. The caller holds the lock.
func (in *Injector) pauseWatch() {
	if in.fault.Type.Category() != Staleness {
		return
	}
	in.paused = &pausedWatch{target: in.fault.At.Target, expire: in.fault.Type == MissedEvents, resumed: make(chan struct{})}
	if in.fault.Type == StaleRestart {
		in.toRelease = append(in.toRelease, in.crashInstance)
	}
	in.toRelease = append(in.toRelease, in.resumeWatch)
}

// signalPending tells that what is pending has begun to befall the operator. The caller holds the lock.
func (in *Injector) signalPending() {
	if !in.signalled {
		close(in.pendingSignal)
		in.signalled = true
	}
}

// Pending is closed when something is kept from the operator, or from the API server, that only Proceed lets
// go.
func (in *Injector) Pending() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.pendingSignal
}

// Release takes a fault that lasts one step on, and tells whether there was one left. Call it when the
// operator has come to rest with what it knows: then it has done all that the fault can lead it to.
func (in *Injector) Release() bool {
	in.mu.Lock()
	if len(in.toRelease) == 0 {
		in.mu.Unlock()
		return false
	}
	next := in.toRelease[0]
	if in.toRelease = in.toRelease[1:]; len(in.toRelease) == 0 && in.signalled {
		in.pendingSignal, in.signalled = make(chan struct{}), false
	}
	in.mu.Unlock()
	next()
	return true
}

// crashInstance ends the newest incarnation.
func (in *Injector) crashInstance() {
	in.mu.Lock()
	instance := in.instance
	in.mu.Unlock()
	instance.crash()
}

// match counts a request and tells what befalls it, None if nothing does.
func (in *Injector) match(request *record.Request) (RequestKey, Type) {
	in.mu.Lock()
	defer in.mu.Unlock()
	point := RequestKey{Verb: request.Verb, Target: request.Target(), Name: cmp.Or(in.normalized(request.Name), "-")}
	in.counts[point]++
	at := in.fault.At
	at.Nth = 0
	nth := in.counts[point]
	befalls := point == at && (nth == in.fault.At.Nth || time.Now().Before(in.burstUntil))
	switch in.fault.Type {
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
	in.trigger()
	return point, in.fault.Type
}

// normalized is a name as it is in every run: "web-*" if the API server made it up from the prefix "web-". The caller
// holds the lock.
func (in *Injector) normalized(name string) string {
	return record.NormalizeName(cmp.Or(in.generatedNames[name], name), in.scope.Namespace)
}

// trigger notes when the fault first befalls the operator. The caller holds the lock.
func (in *Injector) trigger() {
	if in.triggeredAt.IsZero() {
		in.triggeredAt = time.Now()
		in.burstUntil = in.triggeredAt.Add(in.fault.Type.burst())
	}
}
