package explore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/operator-assay/assay/test/harness/faults"
	"github.com/operator-assay/assay/test/harness/oracle"
	"github.com/operator-assay/assay/test/harness/scenario"
)

const (
	// lull is how long an operator does nothing that has done all it can with what it knows. A manager that
	// starts looks every 100 ms whether its caches are filled, once for all and once for each controller.
	lull = 300 * time.Millisecond
	// quiet is how long nothing happens when all has converged. It is more than operators commonly gather
	// changes for.
	quiet = 400 * time.Millisecond
	// slowest is how many times longer than the slowest request nothing must happen at the end of a run
	// with nothing to compare it to: on a slow machine others need longer, too.
	slowest = 3
	// maxLives is how often an operator is started again that ends by itself.
	maxLives = 10
	// lastWords is how many lines of the operator's log a failure quotes.
	lastWords = 20
)

// run is one playing of a scenario, in a namespace of its own with an operator of its own.
type run struct {
	*Explorer
	scenario.Scenario
	wire      *faults.Wire
	namespace string
	log       log
	took      time.Duration
	// polls tells that the operator asks without end. Its reads are no sign of work then.
	polls bool
	// acts are how many versions there were before each of the scenario's actions.
	acts []int
	// broken is why the operator runs no more.
	broken chan error
}

// outcome is what a run comes to.
type outcome struct {
	steps    error // the step that failed
	restless error // what did not end after the last step
	differs  error // how the end is not the reference's
	end      oracle.Snapshot
	history  []oracle.Version
	log      string
}

// start makes the namespace and starts the operator there, which works when it returns.
func (e *Explorer) start(ctx context.Context, story scenario.Scenario, fault faults.Fault, polls bool) (*run, error) {
	r := &run{Explorer: e, Scenario: story, polls: polls, broken: make(chan error, 1)}
	var err error
	if r.namespace, err = e.Plane.CreateNamespace(ctx, "run"); err != nil {
		return nil, err
	}
	r.wire = faults.NewWire(fault, faults.Scope{Namespace: r.namespace, Namespaced: e.namespaced})
	e.running.Go(func() { r.operate(ctx) })
	return r, nil
}

// run leads the operator through the scenario and waits until nothing moves any more, in the reference's
// end if there is one.
func (e *Explorer) run(ctx context.Context, story scenario.Scenario, fault faults.Fault, ref *reference) (*run, outcome, error) {
	start := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := e.start(ctx, story, fault, ref.polls)
	if err != nil {
		return nil, outcome{}, err
	}
	defer e.witness.Forget(r.namespace)
	go func() { // an operator that is gone for good leaves nothing to wait for
		select {
		case err := <-r.broken:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	var end outcome
	if end.steps = r.wake(ctx); end.steps == nil {
		stop := r.proceeding(ctx)
		end.steps = r.steps(ctx)
		stop()
	}
	if end.steps == nil {
		end.restless, end.differs = r.settle(ctx, ref)
	}
	if gone := context.Cause(ctx); gone != nil {
		end.steps = gone // says more than what it kept from coming about
	}
	end.history = e.witness.History(r.namespace)
	end.log = r.log.tail(lastWords)
	if end.end, err = r.snapshot(); err != nil {
		return nil, outcome{}, err
	}
	if end.steps != nil {
		end.differs = ref.compare(end.end)
	}
	r.took = time.Since(start)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.uses.Add(r.wire.Requests.Requests())
	return r, end, nil
}

// wake waits until the operator is up and has nothing to do.
func (r *run) wake(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, r.Patience)
	defer cancel()
	err := r.atRest(waiting, lull)
	if err != nil && !r.wire.Awake() {
		return fmt.Errorf("the operator has listed and watched nothing within %s", r.Patience)
	}
	return err
}

func (r *run) snapshot() (oracle.Snapshot, error) {
	return oracle.NewSnapshot(r.namespace, r.witness.Objects(r.namespace))
}

func (r *run) steps(ctx context.Context) error {
	world := &scenario.World{Client: r.Plane.Client, Namespace: r.namespace, Patience: r.Patience, Witness: r.witness}
	for _, step := range r.Steps {
		r.wire.Requests.Step(step.Name)
		if step.Acts {
			r.acts = append(r.acts, len(r.witness.History(r.namespace)))
			r.wire.Act()
		}
		if outcome := r.Play(ctx, step, world); outcome.Err != nil {
			return fmt.Errorf("%s: %w", step.Name, outcome.Err)
		}
	}
	r.wire.Requests.Step("after the last step")
	return nil
}

// operate keeps the operator alive, as a kubelet does.
func (r *run) operate(ctx context.Context) {
	var dying sync.WaitGroup
	defer dying.Wait()
	for ctx.Err() == nil {
		config, life := r.wire.NewLife(r.Identity)
		living, kill := context.WithCancel(ctx)
		ended := make(chan error, 1)
		dying.Go(func() { ended <- r.Operator(living, config, &r.log) })
		select {
		case <-life.Crashed():
		case <-ctx.Done():
		case err := <-ended:
			r.endedByItself(err)
		}
		life.End()
		kill()
	}
}

// endedByItself lets an operator that a fault has made give up start again. Without a fault, or when
// it does nothing else, it is broken.
func (r *run) endedByItself(err error) {
	if err == nil {
		err = errors.New("it ended without an error")
	}
	if r.wire.Struck().IsZero() || r.wire.Lives() >= maxLives {
		select {
		case r.broken <- fmt.Errorf("the operator ended by itself, %d times: %w", r.wire.Lives(), err):
		default:
		}
	}
}

// proceeding takes a fault that lasts through its steps, each when the operator has come to rest, until it is
// stopped: what is not through by then is for settle to let go, which looks at what comes of it.
func (r *run) proceeding(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-r.wire.Lasting():
		case <-ctx.Done():
			return
		}
		for r.atRest(ctx, lull) == nil && r.wire.Proceed() {
		}
	}()
	return func() {
		cancel()
		<-stopped
	}
}

// settle waits until the world and the operator are at rest, and all is as in the reference. Rest alone
// would not do: what looks like the end may be a slow machine.
func (r *run) settle(ctx context.Context, ref *reference) (restless, differs error) {
	waiting, cancel := context.WithTimeout(ctx, r.Patience)
	defer cancel()
	window := quiet
	if ref.end == nil {
		window = max(2*quiet, slowest*r.wire.Requests.Requests().Slowest())
	}
	for {
		changed, _ := r.witness.Changed(r.namespace)
		if err := r.atRest(waiting, window); err != nil {
			return err, nil
		}
		if r.wire.Proceed() { // what still lasts now, ends now
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

// atRest waits until the operator has asked for nothing for a while, and nothing was changed.
func (r *run) atRest(ctx context.Context, window time.Duration) error {
	if r.polls {
		return r.wire.Rest(ctx, r.witness, window, oracle.Request.IsWrite)
	}
	return r.wire.Rest(ctx, r.witness, window)
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
