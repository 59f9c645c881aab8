package faults

import (
	"cmp"
	"sync"
	"time"

	"github.com/operator-assay/assay/test/harness/oracle"
)

// slowness is what slow reads or writes take longer: much for an API server, little for a run.
const slowness = 100 * time.Millisecond

// stormLasts is long enough for oracle.BoundedRetries to tell a back-off, which asks a few times, from
// a hot loop, which asks hundreds of times.
const stormLasts = 2 * time.Second

// Wire stands between an operator and the API server for the time of one run. It deals the run's
// fault, and knows all that was asked.
type Wire struct {
	// Requests are what the operator sent, as it saw them answered, in all its lives.
	Requests oracle.Recorder

	fault Fault
	scope Scope

	mu      sync.Mutex
	counts  map[Point]int // requests met so far; the points' Nth is 0
	actions int
	struck  time.Time // when the fault first befell a request
	storm   time.Time // until when it befalls others like that
	writes  []Write
	known   map[string]string // the resourceVersion of each object, as last answered
	viewed  map[string]string // the resourceVersion of each resource, as last told by its watch
	madeUp  map[string]string // the names that the API server made, and what it made them from
	lives   int
	held    *hold
	lasting chan struct{} // closed while something pending has befallen the operator
	lasts   bool          // lasting is closed
	pending []func()      // what Proceed has left to do
	life    *Life         // the newest
	waking  waking
	usual   views // what the first incarnation had opened when it first came to rest
}

// NewWire returns a wire that deals a fault; None deals nothing, to learn what there is to befall.
func NewWire(fault Fault, scope Scope) *Wire {
	return &Wire{fault: fault, scope: scope, counts: map[Point]int{}, known: map[string]string{}, viewed: map[string]string{}, madeUp: map[string]string{}, lasting: make(chan struct{}), waking: newWaking()}
}

// Struck gives when the fault befell the operator; the zero time when it has not.
func (w *Wire) Struck() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.struck
}

// Lives is how many incarnations there were.
func (w *Wire) Lives() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lives
}

// Act tells that the scenario's next action is about to happen.
func (w *Wire) Act() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.actions++
	if w.actions == w.fault.At.Nth {
		w.holdBack()
	}
}

// Deal makes another fault the one that is dealt from now on: its At.Nth counts from the next request,
// and a view is held back at once. What only Proceed would have let go, goes first.
func (w *Wire) Deal(fault Fault) {
	for w.Proceed() {
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	at := fault.At
	at.Nth = 0
	fault.At.Nth += w.counts[at]
	w.fault, w.struck, w.storm = fault, time.Time{}, time.Time{}
	w.holdBack()
}

// holdBack holds a view back, if that is the fault. The caller holds the lock.
func (w *Wire) holdBack() {
	if w.fault.Kind.Family() != Views {
		return
	}
	w.held = &hold{target: w.fault.At.Target, broken: w.fault.Kind == Missed, over: make(chan struct{})}
	if w.fault.Kind == StaleRestart {
		w.pending = append(w.pending, w.crash)
	}
	w.pending = append(w.pending, w.release)
}

// last tells that what is pending has begun to befall the operator. The caller holds the lock.
func (w *Wire) last() {
	if !w.lasts {
		close(w.lasting)
		w.lasts = true
	}
}

// Lasting is closed when something is kept from the operator, or from the API server, that only Proceed lets
// go.
func (w *Wire) Lasting() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lasting
}

// Proceed takes a fault that lasts one step on, and tells whether there was one left. Call it when the
// operator has come to rest with what it knows: then it has done all that the fault can lead it to.
func (w *Wire) Proceed() bool {
	w.mu.Lock()
	if len(w.pending) == 0 {
		w.mu.Unlock()
		return false
	}
	next := w.pending[0]
	if w.pending = w.pending[1:]; len(w.pending) == 0 && w.lasts {
		w.lasting, w.lasts = make(chan struct{}), false
	}
	w.mu.Unlock()
	next()
	return true
}

// crash ends the newest incarnation.
func (w *Wire) crash() {
	w.mu.Lock()
	life := w.life
	w.mu.Unlock()
	life.crash()
}

// meet counts a request and tells what befalls it, None if nothing does.
func (w *Wire) meet(request *oracle.Request) (Point, Kind) {
	w.mu.Lock()
	defer w.mu.Unlock()
	point := Point{Verb: request.Verb, Target: request.Target(), Name: cmp.Or(w.masked(request.Name), "-")}
	w.counts[point]++
	at := w.fault.At
	at.Nth = 0
	nth := w.counts[point]
	befalls := point == at && (nth == w.fault.At.Nth || time.Now().Before(w.storm))
	switch w.fault.Kind {
	case SlowReads:
		befalls = request.Verb == "get" || request.Verb == "list"
	case SlowWrites:
		befalls = request.IsWrite()
	case Stale, StaleRestart, Missed:
		befalls = false
	}
	point.Nth = nth
	if !befalls {
		return point, None
	}
	w.strike()
	return point, w.fault.Kind
}

// masked is a name as it is in every run: "web-*" if the API server made it up from the prefix "web-". The caller
// holds the lock.
func (w *Wire) masked(name string) string {
	return oracle.MaskName(cmp.Or(w.madeUp[name], name), w.scope.Namespace)
}

// strike notes when the fault first befalls the operator. The caller holds the lock.
func (w *Wire) strike() {
	if w.struck.IsZero() {
		w.struck = time.Now()
		w.storm = w.struck.Add(w.fault.Kind.lasts())
	}
}
