package explore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/oracle"
	"github.com/operator-assay/assay/test/harness/record"
	"github.com/operator-assay/assay/test/harness/scenario"
)

const (
	// idleWindow is how long an operator does nothing that has done all it can with what it knows. A manager that
	// starts looks every 100 ms whether its caches are filled, once for all and once for each controller.
	idleWindow = 300 * time.Millisecond
	// settleWindow is how long nothing happens when all has converged. It is more than operators commonly gather
	// changes for.
	settleWindow = 400 * time.Millisecond
	// slowFactor is how many times longer than the slowest request nothing must happen at the end of a run
	// with nothing to compare it to: on a slow machine others need longer, too.
	slowFactor = 3
	// maxStarts is how often an operator is started again that ends by itself.
	maxStarts = 10
	// logTailLines is how many lines of the operator's log a failure quotes.
	logTailLines = 20
)

// run is one playing of a scenario, in a namespace of its own with an operator of its own.
type run struct {
	*Explorer
	scenario.Scenario
	injector  *faultinject.Injector
	namespace string
	log       log
	duration  time.Duration
	// polls tells that the operator asks without end. Its reads are no sign of work then.
	polls bool
	// actionStarts are how many versions there were before each of the scenario's actions.
	actionStarts []int
	// fatal is why the operator runs no more.
	fatal chan error
}

// outcome is what a run comes to.
type outcome struct {
	steps      error // the step that failed
	unstable   error // what did not end after the last step
	difference error // how the end is not the reference's
	end        oracle.Snapshot
	history    []record.ObjectVersion
	log        string
}

// start makes the namespace and starts the operator there, which works when it returns.
func (e *Explorer) start(ctx context.Context, s scenario.Scenario, fault faultinject.Fault, polls bool) (*run, error) {
	r := &run{Explorer: e, Scenario: s, polls: polls, fatal: make(chan error, 1)}
	var err error
	if r.namespace, err = e.ControlPlane.CreateNamespace(ctx, "run"); err != nil {
		return nil, err
	}
	r.injector = faultinject.New(fault, faultinject.Scope{Namespace: r.namespace, Namespaced: e.namespaced})
	e.running.Go(func() { r.supervise(ctx) })
	return r, nil
}

// run leads the operator through the scenario and waits until nothing moves any more, in the reference's
// end if there is one.
func (e *Explorer) run(ctx context.Context, s scenario.Scenario, fault faultinject.Fault, ref *reference) (*run, outcome, error) {
	start := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := e.start(ctx, s, fault, ref.polls)
	if err != nil {
		return nil, outcome{}, err
	}
	defer e.history.Drop(r.namespace)
	go func() { // an operator that is gone for good leaves nothing to wait for
		select {
		case err := <-r.fatal:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	var end outcome
	if end.steps = r.waitReady(ctx); end.steps == nil {
		stop := r.releaseWhenIdle(ctx)
		end.steps = r.runSteps(ctx)
		stop()
	}
	if end.steps == nil {
		end.unstable, end.difference = r.waitConverged(ctx, ref)
	}
	if gone := context.Cause(ctx); gone != nil {
		end.steps = gone // says more than what it kept from coming about
	}
	end.history = e.history.Versions(r.namespace)
	end.log = r.log.tail(logTailLines)
	if end.end, err = r.snapshot(); err != nil {
		return nil, outcome{}, err
	}
	if end.steps != nil {
		end.difference = ref.compare(end.end)
	}
	r.duration = time.Since(start)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.permissions.Add(r.injector.Requests.Requests())
	return r, end, nil
}

// waitReady waits until the operator is up and has nothing to do.
func (r *run) waitReady(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, r.StepTimeout)
	defer cancel()
	err := r.waitIdle(waiting, idleWindow)
	if err != nil && !r.injector.Synced() {
		return fmt.Errorf("the operator has listed and watched nothing within %s", r.StepTimeout)
	}
	return err
}

func (r *run) snapshot() (oracle.Snapshot, error) {
	return oracle.NewSnapshot(r.namespace, r.history.Objects(r.namespace))
}

func (r *run) runSteps(ctx context.Context) error {
	env := &scenario.Env{Client: r.ControlPlane.Client, Namespace: r.namespace, StepTimeout: r.StepTimeout, History: r.history}
	for _, step := range r.Steps {
		r.injector.Requests.SetStep(step.Name)
		if step.IsAction {
			r.actionStarts = append(r.actionStarts, len(r.history.Versions(r.namespace)))
			r.injector.NextAction()
		}
		if result := r.RunStep(ctx, step, env); result.Err != nil {
			return fmt.Errorf("%s: %w", step.Name, result.Err)
		}
	}
	r.injector.Requests.SetStep("after the last step")
	return nil
}

// supervise keeps the operator alive, as a kubelet does.
func (r *run) supervise(ctx context.Context) {
	var dying sync.WaitGroup
	defer dying.Wait()
	for ctx.Err() == nil {
		config, instance := r.injector.NewInstance(r.Identity)
		living, kill := context.WithCancel(ctx)
		ended := make(chan error, 1)
		dying.Go(func() { ended <- r.Operator(living, config, &r.log) })
		select {
		case <-instance.Crashed():
		case <-ctx.Done():
		case err := <-ended:
			r.handleExit(err)
		}
		instance.End()
		kill()
	}
}

// handleExit lets an operator that a fault has made give up start again. Without a fault, or when
// it does nothing else, it is broken.
func (r *run) handleExit(err error) {
	if err == nil {
		err = errors.New("it ended without an error")
	}
	if r.injector.TriggeredAt().IsZero() || r.injector.Starts() >= maxStarts {
		select {
		case r.fatal <- fmt.Errorf("the operator ended by itself, %d times: %w", r.injector.Starts(), err):
		default:
		}
	}
}

// releaseWhenIdle takes a fault that lasts through its steps, each when the operator has come to rest, until it is
// stopped: what is not through by then is for settle to let go, which looks at what comes of it.
func (r *run) releaseWhenIdle(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-r.injector.Pending():
		case <-ctx.Done():
			return
		}
		for r.waitIdle(ctx, idleWindow) == nil && r.injector.Release() {
		}
	}()
	return func() {
		cancel()
		<-stopped
	}
}

// waitConverged waits until the world and the operator are at rest, and all is as in the reference. Rest alone
// would not do: what looks like the end may be a slow machine.
func (r *run) waitConverged(ctx context.Context, ref *reference) (restless, differs error) {
	waiting, cancel := context.WithTimeout(ctx, r.StepTimeout)
	defer cancel()
	window := settleWindow
	if ref.end == nil {
		window = max(2*settleWindow, slowFactor*r.injector.Requests.Requests().Slowest())
	}
	for {
		changed, _ := r.history.Changed(r.namespace)
		if err := r.waitIdle(waiting, window); err != nil {
			return err, nil
		}
		if r.injector.Release() { // what still lasts now, ends now
			continue
		}
		end, err := r.snapshot()
		if err != nil {
			return err, nil
		}
		if differs = ref.compare(end); differs == nil {
			return nil, nil
		}
		select {
		case <-changed:
		case <-waiting.Done():
			return nil, differs
		}
	}
}

// waitIdle waits until the operator has asked for nothing for a while, and nothing was changed.
func (r *run) waitIdle(ctx context.Context, window time.Duration) error {
	if r.polls {
		return r.injector.WaitIdle(ctx, r.history, window, record.Request.IsWrite)
	}
	return r.injector.WaitIdle(ctx, r.history, window)
}

// log is what an operator says in all its lives.
type log struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (l *log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes.Write(line)
}

// tail gives the last lines.
func (l *log) tail(lines int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := strings.Split(strings.TrimSpace(l.bytes.String()), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
