package explore

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/terminal"
	"github.com/operator-assay/assay/harness/verdict"
)

// Explorer runs scenarios and injects faults into them. Each phase of an exploration has its own type; see Explore.
type Explorer struct {
	Options Options

	started      time.Time
	console      *terminal.Log // set by the first call to Log
	open         sync.Once
	withoutFault findingsWithoutFault
	player       *player
	judge        *judge
	learner      learner
	planner      *planner
	confirmer    confirmer
}

// New returns an Explorer. The caller must call Close.
func New(ctx context.Context, options Options) (*Explorer, error) {
	options.StepTimeout = cmp.Or(options.StepTimeout, defaultStepTimeout)
	e := &Explorer{Options: options, started: time.Now()}
	e.Options.Scenarios = nil
	for _, s := range options.Scenarios {
		if err := e.AddScenario(s); err != nil {
			return nil, err
		}
	}
	e.withoutFault.printf = e.printf
	var err error
	if e.player, err = newPlayer(ctx, &e.Options, e.printf); err != nil {
		return nil, err
	}
	e.judge = &judge{options: &e.Options, kinds: e.player.kinds, withoutFault: &e.withoutFault}
	e.learner = learner{options: &e.Options, printf: e.printf, player: e.player, judge: e.judge, references: map[string]*reference{}, varying: sets.Set[string]{}}
	e.planner = &planner{&e.Options, &e.learner}
	e.confirmer = confirmer{e, defaultWatchLife}
	return e, nil
}

// Close waits until all operators have stopped and the cleanup of their runs has finished.
func (e *Explorer) Close() {
	e.player.operators.Wait()
	e.player.cancel()
}

// AddScenario adds a scenario to Options.Scenarios. It rejects cluster-scoped kinds if Options.NewEnvironment is nil.
func (e *Explorer) AddScenario(s scenario.Scenario) error {
	switch kind, err := e.Options.clusterScopedKind(s); {
	case err != nil:
		return fmt.Errorf("%s: %w", s.Name, err)
	case kind != "" && e.Options.NewEnvironment == nil:
		return fmt.Errorf("%s: %s is cluster-scoped, so all runs would share its objects: use namespaced kinds", s.Name, kind)
	}
	e.learner.mu.Lock()
	defer e.learner.mu.Unlock()
	e.Options.Scenarios = append(e.Options.Scenarios, s)
	return nil
}

func (o *Options) clusterScopedKind(s scenario.Scenario) (string, error) {
	for _, kind := range s.Kinds {
		if namespaced, err := apiutil.IsGVKNamespaced(kind, o.Environment.ControlPlane.Client.RESTMapper()); err != nil || !namespaced {
			return kind.Kind, err
		}
	}
	return "", nil
}

// Plans returns the plans for all scenarios and the given fault categories. It first runs each scenario without faults,
// unless this has already been done.
func (e *Explorer) Plans(ctx context.Context, categories ...fault.Category) ([]Planned, error) {
	if err := e.learner.learn(ctx); err != nil {
		return nil, err
	}
	var all []Planned
	for _, category := range categories {
		for _, plan := range e.planner.plans(category) {
			all = append(all, Planned{plan, e.learner.reference(plan.Scenario).points.hasEquivalent(plan)})
		}
	}
	return all, nil
}

// Play runs the plans and returns their results. If ctx is canceled, it returns the results so far and the cause.
func (e *Explorer) Play(ctx context.Context, plans ...Plan) ([]Result, error) {
	var names []string
	for _, plan := range plans {
		names = append(names, plan.Scenario)
	}
	if err := e.learner.learn(ctx, names...); err != nil {
		return nil, err
	}
	return e.playAll(ctx, plans, usual), context.Cause(ctx)
}

// Replay runs the given plans. If a plan's fault was not triggered, it returns an error along with the results, because
// such a run proves nothing.
func (e *Explorer) Replay(ctx context.Context, plans ...Plan) ([]Result, error) {
	played, err := e.Play(ctx, plans...)
	for _, result := range played {
		if ctx.Err() == nil && !result.Triggered && result.Passed() {
			return played, fmt.Errorf("the fault of plan %q was not triggered: the operator did not send that request, or its watch received no event", result.Plan)
		}
	}
	return played, err
}

// WithoutFault returns the findings of all fault-free runs so far, sorted by scenario.
func (e *Explorer) WithoutFault() []results.FindingWithoutFault { return e.withoutFault.all() }

// AddWithoutFault records and reports a finding from a fault-free run, unless its cause is already known.
func (e *Explorer) AddWithoutFault(scenarioName string, found verdict.Finding) {
	e.withoutFault.add(scenarioName, found)
}

// Log returns a logger with the given title that writes to Options.Progress. Loggers can be used concurrently.
func (e *Explorer) Log(title string) *terminal.Log {
	e.open.Do(func() { e.console = terminal.NewLog("", e.Options.Progress) })
	return e.console.WithTitle(title)
}

func (e *Explorer) printf(format string, args ...any) {
	e.Log("").Println(fmt.Sprintf(format, args...))
}
