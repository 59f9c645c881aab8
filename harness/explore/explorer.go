package explore

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/terminal"
)

// Operator runs one instance of the operator under test until ctx is canceled, and writes its logs to log. The
// namespace is the namespace of the operator, which is either Options.Home or the namespace of the run. Returning
// before ctx is canceled counts as a failure, even if the error is nil.
type Operator func(ctx context.Context, namespace string, config *rest.Config, log io.Writer) error

// Options configures an exploration.
type Options struct {
	// ControlPlane is shared by all runs that do not need a separate one. See Another.
	ControlPlane *controlplane.ControlPlane
	Identity     *rest.Config
	Operator     Operator
	// Beside lists processes that run next to the operator. No faults are injected into them.
	Beside    []Beside
	Scenarios []scenario.Scenario
	// Invariants checks every object version that a watch could deliver during a run. The fault category is passed
	// because some invariants do not hold while watches are stale. Optional.
	Invariants func(fault.Category, []record.ObjectVersion) error
	// Prepare sets up the operator's namespace before a run starts. Optional.
	Prepare func(ctx context.Context, namespace string) error
	// Another starts an additional control plane. It is used if the operator or a scenario writes cluster-scoped
	// objects. Each run then has exclusive use of a control plane, and everything that it created is deleted
	// afterwards. The caller must stop the control planes.
	//
	// If Another is nil, scenarios with cluster-scoped kinds are rejected. Cluster-scoped objects that the operator
	// writes are then shared by all runs and not compared.
	Another func(context.Context) (Place, error)
	// Home is the operator's namespace in runs that have a control plane of their own. Set it for operators that run
	// in a separate namespace, as they do in a real cluster, or that ignore objects in their own namespace. If it is
	// empty, the operator runs in the namespace of the scenario, as it always does on the shared control plane.
	Home string
	// Parallel is the maximum number of concurrent runs. It defaults to 6 per CPU, because runs mostly wait. If SoFar
	// is set, confirmation runs are added to that, up to a third of this number.
	Parallel int
	// StepTimeout is the expected duration of a step, including restarts and delays. It defaults to 20 seconds. If
	// the slowest step of the reference took more than a third of that, three times its duration is used instead.
	StepTimeout time.Duration
	// LeaveOut skips scenarios that fail without a fault, and reports the reason to Progress. By default, such a
	// scenario is an error. Set it for generated scenarios. If all scenarios fail, the exploration still returns an
	// error.
	LeaveOut bool
	// Public contains words that are not redacted even if they are values in a Secret. Use PublicWords to collect
	// them from the operator's manifests. By default, all values of Secrets are redacted, except short words and
	// numbers.
	Public sets.Set[string]
	// Seed selects the plans if not all of them are played.
	Seed uint64
	// Shard selects the part of the plans that Explore plays. It defaults to all plans.
	Shard results.Shard
	// SoFar is called with the current results whenever failures have been confirmed during the exploration. If it is
	// nil, failures are only confirmed when Confirm is called.
	SoFar func([]Result)
	// Progress receives the progress of the exploration and the plans that fail. On a terminal, the progress is a
	// single line that is redrawn. Optional.
	Progress io.Writer
}

// runsPerCPU determines the default of Options.Parallel.
const runsPerCPU = 6

// Explorer runs scenarios under faults.
type Explorer struct {
	Options
	shared       *place
	places       *places
	kinds        map[schema.GroupResource]schema.GroupKind
	clusterKinds sets.Set[schema.GroupResource] // the cluster-scoped ones of kinds
	slots        chan struct{}                  // limits the number of concurrent runs
	ports        exclusion
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
	panics      []results.PanicWithoutFault

	unstored sync.Once // for the message about webhook configurations
	logging  sync.Mutex
	told     *terminal.Log // writes to Progress; created by the first call of Log
}

// New returns an Explorer. The caller must call Close.
func New(ctx context.Context, options Options) (*Explorer, error) {
	options.StepTimeout = cmp.Or(options.StepTimeout, 20*time.Second)
	e := &Explorer{Options: options, kinds: map[schema.GroupResource]schema.GroupKind{}, clusterKinds: sets.Set[schema.GroupResource]{}, places: newPlaces(), references: map[string]*reference{}, permissions: oracle.Permissions{}, varying: sets.Set[string]{}}
	e.started, e.learningWindow, e.watchLife = time.Now(), defaultLearningWindow, defaultWatchLife
	e.slots = make(chan struct{}, cmp.Or(options.Parallel, runsPerCPU*runtime.GOMAXPROCS(0)))
	resources, err := record.NewResourceLister(options.ControlPlane.Config)
	if err != nil {
		return nil, err
	}
	if err := e.learnKinds(resources); err != nil {
		return nil, err
	}
	if err := e.validateNamespaced(options.Scenarios...); err != nil {
		return nil, err
	}
	e.living, e.stop = context.WithCancel(context.WithoutCancel(ctx))
	e.lasting, e.endLasting = context.WithCancel(e.living)
	history, err := resources.History(e.living, options.ControlPlane.Client)
	if err != nil {
		e.stop()
		return nil, err
	}
	e.shared = &place{Place: Place{options.ControlPlane, options.Identity, options.Operator, options.Beside, options.Prepare}, history: history}
	return e, nil
}

func (e *Explorer) learnKinds(resources *record.ResourceLister) error {
	namespaced, others, err := resources.Kinds()
	if err != nil {
		return err
	}
	for resource, kind := range namespaced {
		e.kinds[resource.GroupResource()] = kind.GroupKind()
	}
	for resource, kind := range others {
		e.kinds[resource.GroupResource()] = kind.GroupKind()
		e.clusterKinds.Insert(resource.GroupResource())
	}
	return nil
}

// validateNamespaced rejects scenarios with cluster-scoped kinds if only the shared control plane is available.
func (e *Explorer) validateNamespaced(scenarios ...scenario.Scenario) error {
	for _, s := range scenarios {
		for _, kind := range s.Kinds {
			switch namespaced, err := apiutil.IsGVKNamespaced(kind, e.ControlPlane.Client.RESTMapper()); {
			case err != nil:
				return fmt.Errorf("%s: %w", s.Name, err)
			case !namespaced && e.Another == nil:
				return fmt.Errorf("%s: %s is cluster-scoped, so all runs would share its objects: use namespaced kinds", s.Name, kind.Kind)
			}
		}
	}
	return nil
}

func (e *Explorer) namespaced(resource schema.GroupResource) bool {
	_, found := e.kinds[resource]
	return found && !e.clusterKinds.Has(resource) || resource.Resource == "events" || resource.Resource == "leases"
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
	return e.Scenarios[slices.IndexFunc(e.Scenarios, func(s scenario.Scenario) bool { return s.Name == name })]
}
