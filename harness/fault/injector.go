package fault

import (
	"cmp"
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

// Injector stands between an operator and the API server during one run. It injects the run's faults and records all
// requests.
type Injector struct {
	// Requests are those that the operator sent, with the responses that it received, from all instances.
	Requests record.Recorder
	// Replace deletes and creates the resource for Replaced; nil for nothing. Set it before the first instance.
	Replace func()

	scope Scope

	mu       sync.Mutex // protects the rest
	schedule schedule
	journal  journal
	watches  watches
	release  release
	lives    lives
}

// New returns an injector of faults. Without faults it only records requests, which is how reference runs are recorded. The
// second fault may apply from when the first has applied, and its At.Nth counts from there: requests from the next one on,
// actions from the current one.
func New(scope Scope, faults ...Fault) *Injector {
	in := &Injector{
		scope:    scope,
		schedule: schedule{counts: map[RequestKey]int{}, armed: min(1, len(faults))},
		journal:  journal{versions: map[string]string{}, generatedNames: map[string]string{}, locks: sets.New[RequestKey]()},
		watches:  watches{observed: map[string]string{}, ends: make(chan struct{})},
		release:  newRelease(),
		lives:    lives{startup: newStartup()},
	}
	for _, of := range faults {
		in.schedule.faults = append(in.schedule.faults, &scheduled{Fault: of})
	}
	return in
}

// release is what the injector withholds from the operator or the API server until Release.
type release struct {
	calm   context.Context // until something is pending, which signal says
	signal context.CancelFunc
	steps  []func() // the remaining steps
}

func newRelease() release {
	calm, signal := context.WithCancel(context.Background())
	return release{calm: calm, signal: signal}
}

// Pending is closed when the injector withholds something that only Release lets pass.
func (in *Injector) Pending() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.release.calm.Done()
}

// IsPending reports whether Pending is closed.
func (in *Injector) IsPending() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.release.calm.Err() != nil
}

// Release takes a pending fault one step further, and reports whether there was a step left. Call it when the operator is idle,
// because it has then done everything that the fault can lead to.
func (in *Injector) Release() bool {
	in.mu.Lock()
	if len(in.release.steps) == 0 {
		in.mu.Unlock()
		return false
	}
	next := in.release.steps[0]
	if in.release.steps = in.release.steps[1:]; len(in.release.steps) == 0 && in.release.calm.Err() != nil {
		in.release = newRelease()
	}
	in.mu.Unlock()
	next()
	return true
}

// NextAction tells the injector that the scenario's next action begins.
func (in *Injector) NextAction() {
	in.mu.Lock()
	defer in.mu.Unlock()
	begins := in.schedule.beginAction()
	if view := in.watches.current; view != nil && view.paused && view.onAction != nil {
		next := view.onAction
		view.onAction = nil
		next()
	}
	if begins != nil {
		in.begin(begins)
	}
}

// EndWatches ends all open watches, as an API server ends each from time to time. The operator opens them again from where they
// ended.
func (in *Injector) EndWatches() {
	in.mu.Lock()
	defer in.mu.Unlock()
	close(in.watches.ends)
	in.watches.ends = make(chan struct{})
}

// watchesEnd is closed when the watches that are opened now end.
func (in *Injector) watchesEnd() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.watches.ends
}

// match counts a request and returns the type of the fault that applies to it, or None.
func (in *Injector) match(request *record.Request) (RequestKey, Type) {
	in.mu.Lock()
	defer in.mu.Unlock()
	key := RequestKey{Verb: request.Verb, Target: request.Target(), Name: cmp.Or(in.journal.normalized(request.Name, in.scope), "-")}
	in.schedule.counts[key]++
	key.Nth = in.schedule.counts[key]
	of := in.schedule.match(request, key)
	if of == nil {
		return key, None
	}
	in.trigger(of)
	return key, of.Type
}
