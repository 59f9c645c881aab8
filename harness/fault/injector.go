package fault

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

// Injector injects faults into the requests of one operator during one run, and records all requests.
type Injector struct {
	Requests record.Recorder // the requests of all instances of the operator
	Journal  Journal         // counts the requests of all instances, and records their writes
	// Replace deletes and recreates the main resource of the scenario when the Replaced fault is injected. It may be
	// nil, and must be set before the first instance is created.
	Replace func()

	scope Scope

	mu      sync.Mutex // protects the fields below
	faults  []*scheduled
	enabled int // the number of faults that can apply
	actions int // the number of actions that have begun
	watches watches
	release release
	lives   lives
}

// release holds the steps that Release runs, one per call.
type release struct {
	pending signal // sent when the first step can run
	steps   []func()
}

// New returns an Injector for at most two faults. Without faults, the Injector only records requests. The second fault
// is enabled when the first one is triggered. Its At.Nth counts only the requests after that. If the second fault
// affects watches, its At.Nth counts actions instead, starting with the current one.
func New(scope Scope, faults ...Fault) *Injector {
	in := &Injector{
		Journal: Journal{
			namespace: scope.Namespace, counts: map[RequestKey]int{},
			versions: map[string]string{}, generatedNames: map[string]string{},
		},
		scope:   scope,
		enabled: min(1, len(faults)),
		watches: watches{observed: map[string]string{}},
		release: release{pending: newSignal(context.Background())},
		lives:   lives{opened: sets.New[RequestKey]()},
	}
	for _, of := range faults {
		in.faults = append(in.faults, &scheduled{Fault: of})
	}
	return in
}

// Pending returns a channel that is closed when a fault is waiting for a call to Release.
func (in *Injector) Pending() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.release.pending.Done()
}

// IsPending reports whether the Pending channel is closed.
func (in *Injector) IsPending() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.release.pending.isSent()
}

// Release runs the next step of a pending fault and reports whether there was one. Call it only when the operator is
// idle, so that the operator has fully reacted to the previous step.
func (in *Injector) Release() bool {
	in.mu.Lock()
	if len(in.release.steps) == 0 {
		in.mu.Unlock()
		return false
	}
	next := in.release.steps[0]
	if in.release.steps = in.release.steps[1:]; len(in.release.steps) == 0 && in.release.pending.isSent() {
		in.release.pending = newSignal(context.Background())
	}
	in.mu.Unlock()
	next()
	return true
}

// NextAction must be called when the next action of the scenario begins.
func (in *Injector) NextAction() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.actions++
	in.Journal.beginAction()
	if view := in.watches.current; view != nil && view.paused && view.onAction != nil {
		next := view.onAction
		view.onAction = nil
		next()
	}
	for _, of := range in.faults[:in.enabled] {
		if of.OfWatch() && in.actions == of.At.Nth {
			in.begin(of)
		}
	}
}

// EndWatches ends all open watches, as an API server does from time to time. The operator resumes each watch from the
// last resourceVersion that it saw.
func (in *Injector) EndWatches() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if newest := in.lives.newest; newest != nil {
		newest.watching.send()
		newest.watching = newSignal(newest.end)
	}
}
