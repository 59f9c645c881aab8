package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

const (
	// idleWindow is how long an operator must send nothing to count as idle before the next step of a fault. A
	// starting manager checks every 100 ms whether its caches are synced, once for all and once for each controller.
	idleWindow = 300 * time.Millisecond
	// slowFactor is how many times longer than the slowest request nothing may change at the end of a run that has no
	// reference, and how many times longer than the slowest step of the reference a step is not late: a slow machine delays
	// others, too.
	slowFactor = 3
	// maxStarts is how often an operator is restarted that exits by itself.
	maxStarts = 10
	// logTailLines is how many lines of the operator's log are shown when a scenario fails without a fault.
	logTailLines = 20
)

// What the explorer waits for before and after the steps, as a timeline calls it.
const (
	startUp     = "operator starts"
	convergence = "Converged"
)

// afterLastStep is the step of the requests that are sent when all steps have succeeded.
const afterLastStep = "after the last step"

// finalDiffers begins the finding that the state of a run is not that of the reference in the end.
const finalDiffers = "the final state differs from the reference"

// attempt is what a run plays, and how.
type attempt struct {
	scenario.Scenario
	fault, then fault.Fault
	// against is what the run is compared with.
	against *reference
	conditions
}

// run is one run of a scenario, in a namespace of its own with an operator of its own.
type run struct {
	*Explorer
	attempt
	at        *place
	injector  *fault.Injector
	beside    []*beside
	namespace string
	log       log
	diary     diary
	started   time.Time
	duration  time.Duration
	// polls tells that the operator polls, so that its reads do not count as activity.
	polls bool
	// checkpoints are the states in which the scenario's steps waited for convergence.
	checkpoints []oracle.Snapshot
	// sent are the requests up to the end of each step.
	sent []map[fault.RequestKey]int
	// actionStarts are the numbers of versions in the history before each of the scenario's actions.
	actionStarts []int
	// unfinished tells that a step failed before the last action, so that the end is not to be compared.
	unfinished bool
	// timely is how long a step should take, limit how long it may, slowest how long one did, and late what took longer
	// than it should: before the fault applied, and from then on.
	timely, limit, slowest time.Duration
	lateBefore, late       *verdict.Finding
	// pause is the longest after which the operator still did something, if the run has learnt it.
	pause time.Duration
	// lingered is when the run waited although it had converged, and cameIn tells that the awaited difference came then.
	lingered []fault.Withheld
	cameIn   bool
	// released is closed, once, when nothing more of the fault is pending.
	released     chan struct{}
	releasedOnce sync.Once
	// ended is closed when the operator, and what runs beside it, run no more.
	ended chan struct{}
	// abort ends the run, for the first of the reasons that there are.
	abort context.CancelCauseFunc
}

// outcome is what a run ends with.
type outcome struct {
	steps      error // of the step that failed
	stopped    bool  // a step did not converge, or differed from the reference, so that later ones were not run
	unstable   error // what still changed after the last step
	difference error // how the final state differs from the reference
	end        oracle.Snapshot
	history    []record.ObjectVersion
	log        string
}

// start creates the namespace and starts the operator, and what runs beside it.
func (e *Explorer) start(ctx context.Context, abort context.CancelCauseFunc, p *place, a attempt) (*run, error) {
	r := &run{Explorer: e, attempt: a, at: p, started: time.Now(), polls: a.against.polls.Load(), released: make(chan struct{}), ended: make(chan struct{}), abort: abort}
	var err error
	if r.namespace, err = p.begin(ctx); err != nil {
		return nil, err
	}
	scope := fault.Scope{Namespace: r.namespace}
	if !p.alone {
		scope.Namespaced = e.namespaced
	}
	r.injector = fault.New(scope, a.fault, a.then)
	r.injector.Replace = func() { r.replaceSubject(ctx) }
	waitBeside := r.startBeside(ctx, scope)
	e.running.Go(func() {
		defer close(r.ended)
		r.supervise(ctx)
		waitBeside()
	})
	if a.watchLife > 0 {
		e.running.Go(func() { r.endWatches(ctx) })
	}
	return r, nil
}

// runShared plays a scenario on the control plane that runs share. If that needs a node port that another run has, it is
// played again when there is none.
func (e *Explorer) runShared(ctx context.Context, a attempt) (*run, outcome, error) {
	needsPort := e.ports.needsPort(a.Name)
	leave := e.ports.enter(needsPort, cmp.Or(a.slots, e.slots))
	r, end, err := e.play(ctx, e.shared, a)
	leave()
	if _, alone := e.ports.alone.Load(a.Name); err != nil || alone || !refusedService(r.injector.Requests.Requests()) {
		return r, end, err
	}
	if _, known := e.ports.needing.LoadOrStore(a.Name, true); !known {
		e.tell("%s: one run at a time, because a node port is fixed, and the cluster has each once", a.Name)
	}
	e.ports.all.Lock()
	defer e.ports.all.Unlock()
	r, end, err = e.play(ctx, e.shared, a)
	if err == nil && refusedService(r.injector.Requests.Requests()) {
		e.ports.alone.Store(a.Name, true)
	}
	return r, end, err
}

// play plays a scenario with an operator, and waits until nothing changes any more and, if there is a reference, until
// the state equals it.
func (e *Explorer) play(ctx context.Context, p *place, a attempt) (*run, outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := e.start(ctx, cancel, p, a) // without an operator there is nothing to wait for
	if err != nil {
		return nil, outcome{}, err
	}
	if !p.alone {
		defer func() { r.leave(func() { cancel(nil) }) }()
	}
	ref := a.against
	r.timely = e.timely(ref)
	if r.limit = r.timely; ref.final != nil {
		r.limit = a.limit(r.timely)
	}
	var end outcome
	if end.steps = r.diary.step(startUp, false, func() error { return r.waitReady(ctx) }); end.steps == nil {
		end.steps = r.runSteps(ctx)
	} else {
		r.unfinished = true
	}
	early, stopped := errors.AsType[notConverged](end.steps)
	switch {
	case stopped:
		end.steps, end.stopped, end.unstable, end.difference = nil, true, early.unstable, early.difference
	case end.steps == nil:
		_ = r.diary.step(convergence, false, func() error {
			end.unstable, end.difference = r.converge(ctx, ref.final, finalDiffers)
			return errors.Join(end.unstable, end.difference)
		})
	}
	if a.lasting && errors.Join(end.steps, end.unstable, end.difference) == nil {
		r.last(ctx)
	}
	if fatal := context.Cause(ctx); fatal != nil {
		end.steps, end.unstable, end.difference = fatal, nil, nil // the cause of the failed step
	}
	end.history = p.history.Versions(r.namespace)
	end.log = r.log.tail(logTailLines)
	end.end = r.snapshot()
	if end.steps != nil && !r.unfinished {
		end.difference = ref.final.compare(finalDiffers, end.end)
	}
	r.duration = time.Since(r.started)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.permissions.Add(r.injector.Requests.Requests())
	return r, end, nil
}

// leave ends the operator of a run on the shared control plane, and sweeps what is left: beside the runs that follow,
// unless one of them may wait for its node port.
func (r *run) leave(end func()) {
	end()
	sweep := func() {
		<-r.ended
		r.sweep(r.living)
	}
	if slices.ContainsFunc(r.at.history.Objects(r.namespace), hasNodePort) {
		sweep()
	} else {
		r.running.Go(sweep)
	}
}

// waitReady waits until the operator is synced and idle, and what runs beside it. That counts as a step.
func (r *run) waitReady(ctx context.Context) error {
	start := time.Now()
	waiting, cancel := context.WithTimeout(ctx, r.timely)
	defer cancel()
	err := r.waitIdle(waiting, idleWindow)
	switch {
	case err != nil && !r.injector.Synced():
		return stepError{startUp, fmt.Errorf("the operator has not listed or watched anything within %s", r.timely.Round(time.Second/10))}
	case err != nil:
		return stepError{startUp, err}
	}
	if err := r.waitBeside(waiting); err != nil {
		return stepError{startUp, err}
	}
	r.noteLate(startUp, start)
	return nil
}

func (r *run) snapshot() oracle.Snapshot {
	return oracle.NewSnapshot(r.namespace, r.at.history.Objects(r.namespace))
}

// supervise restarts the operator whenever it ends, as a kubelet does.
func (r *run) supervise(ctx context.Context) {
	var dying sync.WaitGroup
	defer dying.Wait()
	for ctx.Err() == nil {
		config, instance := r.injector.NewInstance(r.at.Identity)
		noteEnd := r.diary.instance()
		living, kill := context.WithCancel(ctx)
		ended := make(chan error, 1)
		dying.Go(func() { ended <- r.at.Operator(living, r.at.homeOf(r.namespace), config, &r.log) })
		select {
		case <-instance.Crashed():
			noteEnd(results.Crashed)
		case <-ctx.Done():
			noteEnd(results.Stopped)
		case err := <-ended:
			noteEnd(results.Exited)
			r.handleExit(err)
		}
		instance.End()
		kill()
	}
}

// handleExit allows an operator to exit when a fault has triggered. Without a fault, or after maxStarts, it ends the
// run.
func (r *run) handleExit(err error) {
	err = cmp.Or(err, errors.New("it exited without an error"))
	if r.injector.TriggeredAt().IsZero() || r.injector.Starts() >= maxStarts {
		r.abort(stepError{"operator runs", fmt.Errorf("the operator exited by itself, %d times: %w", r.injector.Starts(), err)})
	}
}
