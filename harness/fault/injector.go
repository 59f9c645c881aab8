package fault

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

// addedLatency is what slow reads or writes take longer: much for an API server, little for a run.
const addedLatency = 100 * time.Millisecond

// slowError is how long the API server waits for an admission webhook by default.
const slowError = 10 * time.Second

// acrossBound is how long StaleAcross withholds events from an operator that the scenario waits for.
const acrossBound = 5 * time.Second

// burstDuration is long enough for oracle.BoundedRetries to tell a back-off, which retries a few times, from a hot
// loop, which retries hundreds of times.
const burstDuration = 2 * time.Second

// Injector stands between an operator and the API server during one run. It injects the run's faults and records all
// requests.
type Injector struct {
	// Requests are those that the operator sent, with the responses that it received, from all instances.
	Requests record.Recorder
	// Replace deletes and creates the resource for Replaced; nil for nothing. Set it before the first instance.
	Replace func()

	scope Scope

	mu               sync.Mutex
	faults           []*dealt
	armed            int                // how many of them may apply
	counts           map[RequestKey]int // requests matched so far; Nth of the keys is 0
	countsBefore     map[RequestKey]int // those until the first fault applied; nil but between that and the next action
	aftermath        []RequestKey
	actions          int
	writes           []Write
	versions         map[string]string    // the resourceVersion of each object, as last answered
	observedVersions map[string]string    // the resourceVersion of each resource, as last delivered by its watch
	generatedNames   map[string]string    // the patterns of names that the API server generated, or that end with a hash
	lockKeys         sets.Set[RequestKey] // the objects that are locks: Verb is empty, and Nth is 0
	starts           int
	paused           *pausedWatch
	past             *pausedWatch // what a time travel will show
	pastAfter        int          // the action that the operator must have seen before
	withheld         []Withheld
	calm             context.Context // until a fault waits for Release, which signalPending says
	signalPending    context.CancelFunc
	toRelease        []func()      // the remaining steps of Release
	instance         *Instance     // the newest
	endOfWatches     chan struct{} // closed by EndWatches
	startup          startup
	expected         watchSet // what the first instance watched when it was first idle
}

// New returns an injector of faults, none of them to learn which requests there are. The second one may apply from when the
// first has applied, and its At.Nth counts from there: requests from the next one on, actions from the one under way.
func New(scope Scope, faults ...Fault) *Injector {
	in := &Injector{scope: scope, counts: map[RequestKey]int{}, versions: map[string]string{}, observedVersions: map[string]string{}, generatedNames: map[string]string{}, lockKeys: sets.New[RequestKey](), endOfWatches: make(chan struct{}), startup: newStartup()}
	in.calm, in.signalPending = context.WithCancel(context.Background())
	for _, fault := range faults {
		in.faults = append(in.faults, &dealt{Fault: fault})
	}
	in.armed = min(1, len(faults))
	return in
}

// Starts is how many instances have started.
func (in *Injector) Starts() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.starts
}

// EndWatches ends all watches that are open, in order, as an API server ends each from time to time. The operator opens them
// again from where they ended.
func (in *Injector) EndWatches() {
	in.mu.Lock()
	defer in.mu.Unlock()
	close(in.endOfWatches)
	in.endOfWatches = make(chan struct{})
}

// watchesEnd is closed when the watches end that are opened now.
func (in *Injector) watchesEnd() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.endOfWatches
}

// NextAction tells the injector that the scenario's next action follows.
func (in *Injector) NextAction() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.actions++
	in.countsBefore = nil
	for _, fault := range in.faults[:in.armed] {
		switch {
		case !fault.Type.OfWatch():
		case in.actions == fault.At.Nth:
			in.pauseWatch(fault)
		case in.actions == fault.At.Nth+1 && fault.Type == StaleAcross && in.paused != nil:
			in.releaseAcross(fault)
		}
	}
}

// releaseAcross lets Release resume the watch that was paused across an action. The caller holds the lock.
func (in *Injector) releaseAcross(fault *dealt) {
	in.toRelease = append(in.toRelease, in.resumeWatch)
	if !fault.triggeredAt.IsZero() {
		in.signalPending()
	}
}

// pauseWatch pauses the watch of a fault, or has a time travel begin. The caller holds the lock.
func (in *Injector) pauseWatch(fault *dealt) {
	pause := &pausedWatch{fault: fault, target: fault.At.Target, versions: maps.Clone(in.observedVersions), expire: fault.Type == MissedEvents, resumed: make(chan struct{})}
	if fault.Type.Category() == TimeTravels {
		in.past, in.pastAfter = pause, in.actions
		switch fault.Type {
		case TimeTravelFar:
			in.pastAfter++
		case TimeTravelDeleting:
			in.pastAfter++
			pause.versions = nil // markDelivered will know
		}
		return
	}
	in.pause(pause)
	switch fault.Type {
	case StaleAcross:
		pause.bound = time.AfterFunc(acrossBound, in.resumeWatch)
		return
	case StaleRestart:
		in.toRelease = append(in.toRelease, in.crashInstance)
	}
	in.toRelease = append(in.toRelease, in.resumeWatch)
}

// pause pauses a watch from now on. The caller holds the lock.
func (in *Injector) pause(watch *pausedWatch) {
	in.paused = watch
	in.withheld = append(in.withheld, Withheld{Target: watch.target, From: time.Now()})
}

// Pending is closed when the injector withholds something from the operator or the API server that only Release lets
// pass.
func (in *Injector) Pending() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.calm.Done()
}

// IsPending tells whether Pending is closed.
func (in *Injector) IsPending() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.calm.Err() != nil
}

// Release takes a pending fault one step further, and tells whether there was a step left. Call it when the operator
// is idle: then it has done everything that the fault can lead to.
func (in *Injector) Release() bool {
	in.mu.Lock()
	if len(in.toRelease) == 0 {
		in.mu.Unlock()
		return false
	}
	next := in.toRelease[0]
	if in.toRelease = in.toRelease[1:]; len(in.toRelease) == 0 && in.calm.Err() != nil {
		in.calm, in.signalPending = context.WithCancel(context.Background())
	}
	in.mu.Unlock()
	next()
	return true
}

// crashInstance crashes the newest instance.
func (in *Injector) crashInstance() {
	in.mu.Lock()
	instance := in.instance
	in.mu.Unlock()
	instance.crash()
}

// normalized is the name as it is in every run: "web-*" if the API server generated it from the prefix "web-". The
// caller holds the lock.
func (in *Injector) normalized(name string) string {
	return record.NormalizeName(cmp.Or(in.generatedNames[name], name), in.scope.Namespace)
}
