package explore

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

// attempt describes a run. The second fault is optional.
type attempt struct {
	scenario    scenario.Scenario
	fault, then fault.Fault
	// against is the reference with which the run is compared. It contains no states while it is being recorded.
	against    *reference
	conditions conditions
}

// player runs scenarios. Each run has its own namespace and operator.
type player struct {
	options        *Options
	printf         func(format string, args ...any)
	kinds          kinds
	environments   *environments
	slots          chan struct{}   // limits the number of concurrent runs
	operators      sync.WaitGroup  // operators and sweeps, which may outlive their run
	ctx            context.Context // canceled by Explorer.Close
	cancel         context.CancelFunc
	learningWindow time.Duration
}

func newPlayer(ctx context.Context, options *Options, printf func(string, ...any)) (*player, error) {
	p := &player{options: options, printf: printf, learningWindow: defaultLearningWindow}
	p.slots = make(chan struct{}, cmp.Or(options.Parallel, runsPerCPU*runtime.GOMAXPROCS(0)))
	resources, err := record.NewResourceLister(options.Environment.ControlPlane.Config)
	if err != nil {
		return nil, err
	}
	if p.kinds, err = newKinds(resources); err != nil {
		return nil, err
	}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if p.environments, err = newEnvironments(p.ctx, options, resources, printf); err != nil {
		p.cancel()
	}
	return p, err
}

func (p *player) play(ctx context.Context, a attempt) (*recording, error) {
	if !a.against.exclusive {
		return p.playOn(ctx, p.environments.shared, a)
	}
	env, err := p.environments.take(ctx)
	if err != nil {
		return nil, err
	}
	r, err := p.playOn(ctx, env, a)
	if broken := p.environments.giveBack(ctx, env, r); broken != nil {
		p.printf("discarding a control plane, because it could not be cleaned up after a run of %s: %v", a.scenario.Name, broken)
	}
	return r, err
}

func (p *player) playOn(ctx context.Context, env *environment, a attempt) (*recording, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	start := time.Now()
	namespace, err := env.begin(ctx)
	if err != nil {
		return nil, err
	}
	scope := fault.Scope{Namespace: namespace}
	if !env.exclusive {
		scope.Namespaced = p.kinds.isNamespaced
	}
	rec := &recording{
		namespace: namespace, injector: fault.New(scope, a.fault, a.then), timeline: timeline{start: start},
		timing: timing{timely: p.options.timely(a.against)}, sent: []map[fault.RequestKey]int{nil}, ended: make(chan struct{}),
	}
	r := &run{a, env, rec, p, cancel}
	rec.injector.Replace = func() { r.replace(ctx) }
	r.startProcesses(ctx, scope)
	r.play(ctx)
	cancel(nil)
	if !env.exclusive {
		p.operators.Go(func() {
			<-rec.ended
			env.sweep(p.ctx, namespace)
		})
	}
	return rec, nil
}

// conditions contains the settings of a run that do not depend on its fault.
type conditions struct {
	// lateFactor determines the step timeout. Its value is one of the constants lateFactor and confirmingFactor.
	lateFactor time.Duration
	// watchLife is how often all watches are disconnected. Zero means never.
	watchLife time.Duration
	// awaited, if set, is a known difference from the expected state. The run waits until it appears or the step times
	// out.
	awaited *verdict.Deviation
}

// usual contains the conditions of all runs except those that confirm a failure.
var usual = conditions{lateFactor: lateFactor}

func (o *Options) timely(ref *reference) time.Duration {
	return max(o.StepTimeout, slowFactor*ref.slowest)
}
