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

// logTailLines is the number of log lines that are shown if a scenario fails without a fault.
const logTailLines = 20

// Names of the implicit steps in a timeline, before and after the steps of the scenario.
const (
	startUp     = "operator starts"
	convergence = "Converged"
)

// afterLastStep is the step name of requests that are sent after all steps have succeeded.
const afterLastStep = "after the last step"

// finalDiffers is the start of the finding's message if the final state differs from the reference.
const finalDiffers = "the final state differs from the reference"

type attempt struct {
	scenario.Scenario
	fault, then fault.Fault
	// against is the reference with which the run is compared.
	against *reference
	conditions
}

// run is one run of a scenario. It has its own namespace and operator.
type run struct {
	*Explorer
	attempt
	env       *environment
	injector  *fault.Injector
	sidecars  []*sidecar
	namespace string
	log       log
	diary     diary
	started   time.Time
	duration  time.Duration
	// polls is true if the operator polls. Its reads then do not count as activity.
	polls bool
	// checkpoints are the states at the steps that waited for convergence.
	checkpoints []oracle.Snapshot
	// sent holds the request counts at the end of each step.
	sent []map[fault.RequestKey]int
	// actionStarts holds the length of the history before each action.
	actionStarts []int
	// unfinished is true if a step failed before the last action. The final state is then not compared.
	unfinished bool
	// timely is the expected duration of a step and limit the maximum. slowest is the longest duration so far.
	// lateBefore and late are the first late steps before and after the fault was injected.
	timely, limit, slowest time.Duration
	lateBefore, late       *verdict.Finding
	// pause is the longest observed pause after which the operator continued.
	pause time.Duration
	// lingered holds the intervals in which the run waited although it had converged. cameIn is true if the awaited
	// difference appeared.
	lingered []fault.Delay
	cameIn   bool
	// released is closed when the fault has no more pending steps.
	released     chan struct{}
	releasedOnce sync.Once
	// ended is closed when the operator and the processes next to it have stopped.
	ended chan struct{}
	abort context.CancelCauseFunc
}

type outcome struct {
	steps      error // error of the failed step
	stopped    bool  // true if the run ended at a step that did not converge or differed from the reference
	unstable   error // what kept changing after the last step
	difference error // how the final state differs from the reference
	end        oracle.Snapshot
	stuck      []oracle.StuckDeletion // set if all steps have succeeded
	history    []record.ObjectVersion
	log        string
}

// start creates the namespace and starts the operator and the processes next to it.
func (e *Explorer) start(ctx context.Context, abort context.CancelCauseFunc, p *environment, a attempt) (*run, error) {
	r := &run{Explorer: e, attempt: a, env: p, started: time.Now(), polls: a.against.polls.Load(), released: make(chan struct{}), ended: make(chan struct{}), abort: abort}
	var err error
	if r.namespace, err = p.begin(ctx); err != nil {
		return nil, err
	}
	scope := fault.Scope{Namespace: r.namespace}
	if !p.exclusive {
		scope.Namespaced = e.kinds.isNamespaced
	}
	r.injector = fault.New(scope, a.fault, a.then)
	r.injector.Replace = func() { r.replaceSubject(ctx) }
	waitSidecars := r.startSidecars(ctx, scope)
	e.running.Go(func() {
		defer close(r.ended)
		r.supervise(ctx)
		waitSidecars()
	})
	if a.watchLife > 0 {
		e.running.Go(func() { r.endWatches(ctx) })
	}
	return r, nil
}

// run plays a scenario on the shared control plane. If this or an earlier run writes cluster-scoped objects, it uses
// a separate control plane.
func (e *Explorer) run(ctx context.Context, a attempt) (*run, outcome, error) {
	if e.Options.NewEnvironment == nil {
		return e.runShared(ctx, a)
	}
	if kind := e.kinds.firstClusterScoped(a.Kinds); kind != "" {
		e.environments.requireExclusive("a scenario has a " + kind)
	}
	if !e.environments.exclusive.Load() {
		r, end, err := e.runShared(ctx, a)
		if err != nil || a.fault.Type != fault.None {
			return r, end, err
		}
		written := e.kinds.writtenClusterWide(slices.Concat(r.injector.Writes(), r.sidecarWrites()))
		if written == "" {
			return r, end, nil
		}
		e.environments.requireExclusive("the operator writes to " + written)
	}
	env, err := e.environments.take(ctx)
	if err != nil {
		return nil, outcome{}, err
	}
	r, end, err := e.play(ctx, env, a)
	e.environments.giveBack(ctx, env, r)
	return r, end, err
}

// runShared plays a scenario on the shared control plane. If the API server rejects a Service, the node port may be
// in use by another run, so the scenario is played again while no other run is active.
func (e *Explorer) runShared(ctx context.Context, a attempt) (*run, outcome, error) {
	needsPort := e.environments.ports.needsPort(a.Name)
	leave := e.environments.ports.enter(needsPort, cmp.Or(a.slots, e.slots))
	r, end, err := e.play(ctx, e.environments.shared, a)
	leave()
	if _, alone := e.environments.ports.rejected.Load(a.Name); err != nil || alone || !refusedService(r.injector.Requests.Requests()) {
		return r, end, err
	}
	if _, known := e.environments.ports.needing.LoadOrStore(a.Name, true); !known {
		e.tell("%s: one run at a time, because a node port is fixed, and the cluster has each once", a.Name)
	}
	e.environments.ports.all.Lock()
	defer e.environments.ports.all.Unlock()
	r, end, err = e.play(ctx, e.environments.shared, a)
	if err == nil && refusedService(r.injector.Requests.Requests()) {
		e.environments.ports.rejected.Store(a.Name, true)
	}
	return r, end, err
}

// play runs a scenario until it has converged to the reference, if there is one, or until nothing changes.
func (e *Explorer) play(ctx context.Context, p *environment, a attempt) (*run, outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := e.start(ctx, cancel, p, a) // cancel is also called if the operator exits
	if err != nil {
		return nil, outcome{}, err
	}
	if !p.exclusive {
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
		end.steps, end.unstable, end.difference = fatal, nil, nil // the reason why the step failed
	}
	end.history = p.history.Versions(r.namespace)
	end.log = r.log.tail(logTailLines)
	end.end = r.snapshot()
	if end.steps == nil {
		end.stuck = oracle.StuckDeletions(r.namespace, scenario.User, p.history.Objects(r.namespace))
	}
	if end.steps != nil && !r.unfinished {
		end.difference = ref.final.compare(finalDiffers, end.end)
	}
	r.duration = time.Since(r.started)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.permissions.Add(r.injector.Requests.Requests())
	return r, end, nil
}

// leave stops the operator and deletes what the run has left on the shared control plane. The deletion runs in the
// background, unless another run may be waiting for the node port.
func (r *run) leave(end func()) {
	end()
	sweep := func() {
		<-r.ended
		r.sweep(r.living)
	}
	if slices.ContainsFunc(r.env.history.Objects(r.namespace), hasNodePort) {
		sweep()
	} else {
		r.running.Go(sweep)
	}
}

// waitReady waits until the operator and the processes next to it are synced and idle.
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
	if err := r.waitSidecars(waiting); err != nil {
		return stepError{startUp, err}
	}
	r.noteLate(startUp, start)
	return nil
}

func (r *run) snapshot() oracle.Snapshot {
	return oracle.NewSnapshot(r.namespace, r.env.history.Objects(r.namespace))
}

// supervise restarts the operator whenever it exits.
func (r *run) supervise(ctx context.Context) {
	var dying sync.WaitGroup
	defer dying.Wait()
	for ctx.Err() == nil {
		config, instance := r.injector.NewInstance(r.env.config.Identity)
		noteEnd := r.diary.instance()
		living, kill := context.WithCancel(ctx)
		ended := make(chan error, 1)
		dying.Go(func() { ended <- r.env.config.Operator(living, r.env.home(r.namespace), config, &r.log) })
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

// handleExit tolerates the exit of an operator after a fault has triggered. It aborts the run if there was no fault
// yet or after maxStarts.
func (r *run) handleExit(err error) {
	err = cmp.Or(err, errors.New("it exited without an error"))
	if r.injector.TriggeredAt().IsZero() || r.injector.Starts() >= maxStarts {
		r.abort(stepError{"operator runs", fmt.Errorf("the operator exited by itself, %d times: %w", r.injector.Starts(), err)})
	}
}
