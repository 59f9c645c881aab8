package explore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/terminal"
)

// Explorer runs scenarios under faults.
type Explorer struct {
	Options      Options
	environments *environments
	kinds        kinds
	slots        chan struct{}   // limits the number of concurrent runs
	observed     sync.Map        // observedRun by scenario name, until a reference is built from it
	lastingKinds sync.Map        // the kinds of the lastingRuns
	sampled      sync.Map        // combinations of scenario and fault types for which a passed run is already kept
	living       context.Context // canceled when Close returns
	stop         context.CancelFunc
	lasting      context.Context // canceled when Close is called
	endLasting   context.CancelFunc
	running      sync.WaitGroup // operators and sweeps, which may outlive their run
	started      time.Time
	// learningWindow is how long nothing may change at the end of a run for which there is no reference.
	learningWindow time.Duration
	// watchLife is the time between disconnects of all watches in confirmation runs.
	watchLife time.Duration

	mu          sync.Mutex
	references  map[string]*reference
	lastingRuns []lastingRun
	permissions oracle.Permissions
	varying     sets.Set[string] // fields that are already reported to vary between runs
	// withoutFault contains the findings of runs without a fault.
	withoutFault []results.FindingWithoutFault

	unstored sync.Once // for the message about webhook configurations
	logging  sync.Mutex
	told     *terminal.Log // writes to Progress; created by the first call of Log
}

// New returns an Explorer. The caller must call Close.
func New(ctx context.Context, options Options) (*Explorer, error) {
	options.StepTimeout = cmp.Or(options.StepTimeout, defaultStepTimeout)
	e := &Explorer{Options: options, references: map[string]*reference{}, permissions: oracle.Permissions{}, varying: sets.Set[string]{}}
	e.started, e.learningWindow, e.watchLife = time.Now(), defaultLearningWindow, defaultWatchLife
	e.slots = make(chan struct{}, cmp.Or(options.Parallel, runsPerCPU*runtime.GOMAXPROCS(0)))
	resources, err := record.NewResourceLister(options.Environment.ControlPlane.Config)
	if err != nil {
		return nil, err
	}
	if e.kinds, err = newKinds(resources); err != nil {
		return nil, err
	}
	if err := e.validateNamespaced(options.Scenarios...); err != nil {
		return nil, err
	}
	e.living, e.stop = context.WithCancel(context.WithoutCancel(ctx))
	e.lasting, e.endLasting = context.WithCancel(e.living)
	if e.environments, err = newEnvironments(e.living, &e.Options, resources, e.tell); err != nil {
		e.stop()
		return nil, err
	}
	return e, nil
}

// validateNamespaced rejects scenarios with cluster-scoped kinds if only the shared control plane is available.
func (e *Explorer) validateNamespaced(scenarios ...scenario.Scenario) error {
	for _, s := range scenarios {
		for _, kind := range s.Kinds {
			switch namespaced, err := apiutil.IsGVKNamespaced(kind, e.Options.Environment.ControlPlane.Client.RESTMapper()); {
			case err != nil:
				return fmt.Errorf("%s: %w", s.Name, err)
			case !namespaced && e.Options.NewEnvironment == nil:
				return fmt.Errorf("%s: %s is cluster-scoped, so all runs would share its objects: use namespaced kinds", s.Name, kind.Kind)
			}
		}
	}
	return nil
}

// Close waits until all operators have stopped and the objects of their runs have been swept.
func (e *Explorer) Close() {
	e.endLasting()
	e.running.Wait()
	e.stop()
}

// Replay plays the given plans. It returns an error in addition to the results if the fault of a plan did not
// trigger, because such a plan proves nothing.
func (e *Explorer) Replay(ctx context.Context, plans ...Plan) ([]Result, error) {
	played, err := e.Play(ctx, plans...)
	if played == nil {
		return nil, err
	}
	for _, result := range played {
		if ctx.Err() == nil && !result.Triggered && result.Passed() {
			return played, fmt.Errorf("plan %q never triggered: the operator has not sent that request, or its watch had no event", result.Plan)
		}
	}
	return played, context.Cause(ctx)
}

// playAll plays the plans and returns the results in the same order. It omits interrupted plans.
func (e *Explorer) playAll(ctx context.Context, plans []Plan, how conditions) []Result {
	progress := newProgress(e.Log("explore"), "plans")
	defer progress.end()
	var mu sync.Mutex
	byPlan := map[Plan]Result{}
	e.playBeside(ctx, plans, how, progress, func(result Result) {
		mu.Lock()
		defer mu.Unlock()
		byPlan[result.Plan] = result
	})
	var played []Result
	for _, plan := range plans {
		if result, is := byPlan[plan]; is {
			played = append(played, result)
		}
	}
	return played
}

// playBeside plays the plans in parallel, limited by the slots, and calls add for each result. Several calls may
// share a progress. Interrupted plans are omitted.
func (e *Explorer) playBeside(ctx context.Context, plans []Plan, how conditions, progress *progress, add func(Result)) {
	progress.expect(len(plans))
	var playing sync.WaitGroup
	for _, plan := range plans {
		e.slots <- struct{}{}
		playing.Go(func() {
			defer func() { <-e.slots }()
			if ctx.Err() != nil || !e.isLearnt(plan.Scenario) {
				return // the exploration was interrupted, or the scenario must be learned again
			}
			result := e.judge(ctx, plan, how)
			if ctx.Err() == nil && !result.stale {
				add(result)
				progress.addPlan(result)
			}
		})
	}
	playing.Wait()
}

// Permissions returns the permissions that the operator has used in all runs so far.
func (e *Explorer) Permissions() oracle.Permissions {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.permissions)
}

func (e *Explorer) reference(name string) *reference {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.references[name]
}

func (e *Explorer) scenario(name string) scenario.Scenario {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.Options.Scenarios[slices.IndexFunc(e.Options.Scenarios, func(s scenario.Scenario) bool { return s.Name == name })]
}
