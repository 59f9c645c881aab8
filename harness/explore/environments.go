package explore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
)

// environments manages the control planes. Runs use the shared control plane until a scenario turns out to need an
// exclusive one. From then on, each run of that scenario, and of every scenario that starts later, uses an exclusive
// control plane. Later runs reuse the exclusive control planes.
type environments struct {
	ctx     context.Context // stops the histories
	options *Options
	printf  func(format string, args ...any)
	shared  *environment

	exclusive atomic.Bool       // true once a scenario needs exclusive control planes
	started   chan struct{}     // contains a value per exclusive control plane, and limits their number
	idle      chan *environment // the exclusive control planes that no run uses
}

func newEnvironments(ctx context.Context, options *Options, resources *record.ResourceLister, printf func(string, ...any)) (*environments, error) {
	history, err := resources.History(ctx, options.Environment.ControlPlane.Client)
	if err != nil {
		return nil, err
	}
	limit := min(environmentsPerCPU*runtime.GOMAXPROCS(0), maxEnvironments)
	return &environments{
		ctx: ctx, options: options, printf: printf, shared: &environment{config: options.Environment, history: history},
		started: make(chan struct{}, limit), idle: make(chan *environment, limit),
	}, nil
}

// errNeedsExclusive is returned by a run on the shared control plane if its scenario needs exclusive control planes.
var errNeedsExclusive = errors.New("the scenario needs an exclusive control plane")

func (e *environments) needsExclusive(s scenario.Scenario) bool {
	if kind, err := e.options.clusterScopedKind(s); err == nil && kind != "" {
		e.requireExclusive("a scenario has a " + kind + ", which is cluster-scoped")
	}
	return e.exclusive.Load()
}

// requireExclusive assigns exclusive control planes to all scenarios that start later. It returns false if
// Options.NewEnvironment is nil.
func (e *environments) requireExclusive(because string) bool {
	if e.options.NewEnvironment == nil {
		return false
	}
	if !e.exclusive.Swap(true) {
		e.printf("using an exclusive control plane for each run of this scenario and of all later ones, at most %d at a time, because %s", cap(e.started), because)
	}
	return true
}

func (e *environments) take(ctx context.Context) (*environment, error) {
	select {
	case env := <-e.idle:
		return env, nil
	default:
	}
	select {
	case env := <-e.idle:
		return env, nil
	case e.started <- struct{}{}:
	}
	env, err := e.add(ctx)
	if err != nil {
		<-e.started
		return nil, fmt.Errorf("cannot start an exclusive control plane: %w", err)
	}
	return env, nil
}

func (e *environments) add(ctx context.Context) (*environment, error) {
	started, err := e.options.NewEnvironment(ctx)
	if err != nil {
		return nil, err
	}
	env := &environment{config: started, exclusive: true}
	if env.config.Home != "" {
		if err := env.config.ControlPlane.EnsureNamespace(ctx, env.config.Home); err != nil {
			return nil, err
		}
	}
	resources, err := record.NewResourceLister(env.config.ControlPlane.Config)
	if err != nil {
		return nil, err
	}
	if env.history, err = resources.ClusterHistory(e.ctx, env.config.ControlPlane.Client); err != nil {
		return nil, err
	}
	env.history.RecordAllFor(betweenRuns)
	return env, env.history.WaitStable(ctx, betweenRuns, settleWindow)
}

// giveBack resets a control plane after a run, or stops it if r is nil because the run could not start.
func (e *environments) giveBack(ctx context.Context, env *environment, r *recording) (err error) {
	if r != nil && ctx.Err() == nil {
		<-r.ended
		if err = env.reset(ctx, r.namespace); err == nil {
			e.idle <- env
			return nil
		}
	}
	_ = env.config.ControlPlane.Stop() // the owner of the control plane stops it again and gets the error
	<-e.started
	if ctx.Err() != nil {
		return nil
	}
	return err
}
