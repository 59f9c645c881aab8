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

// Operator runs one instance of the operator under test until ctx ends, and writes its log to log. namespace is its own: the
// run's, or Options.Home. If it returns before ctx ends, that is an error, even without one.
type Operator func(ctx context.Context, namespace string, config *rest.Config, log io.Writer) error

// Options configure an exploration.
type Options struct {
	// ControlPlane is shared by all runs, but for those that need Another.
	ControlPlane *controlplane.ControlPlane
	// Identity is the rest.Config of the operator's user.
	Identity *rest.Config
	// Operator is the operator under test.
	Operator Operator
	// Beside is what runs beside it, without faults; nil for nothing.
	Beside []Beside
	// Scenarios are played under faults.
	Scenarios []scenario.Scenario
	// Invariants judge every version of the namespace's objects that a watch could deliver during a run; nil for
	// none. The category of the fault is given because some invariants do not hold under stale watches.
	Invariants func(fault.Category, []record.ObjectVersion) error
	// Prepare makes the operator's namespace ready for a run before it starts; nil for nothing.
	Prepare func(ctx context.Context, namespace string) error
	// Another starts one more control plane, for an operator or a scenario that writes cluster-wide objects: then each
	// run has one alone, and when it has ended, what it has left is deleted. Whoever gives it stops them. nil for none:
	// such a scenario is an error then, and such objects of the operator are shared by all runs, and not compared.
	Another func(context.Context) (Place, error)
	// Home is the operator's own namespace in a run that has a control plane alone, beside that of the scenario: as in a cluster,
	// and for those that leave their own namespace out. Empty for the scenario's, where an operator that knows no other one
	// works. On the shared control plane a run has one namespace.
	Home string
	// Parallel is how many runs are played at once, without those for SoFar, which are a third as many; by default 6 for each CPU,
	// since most of a run is waiting.
	Parallel int
	// StepTimeout is how long a state of a scenario may take, restarts and delays included; 20 s by default, and three times
	// as long as in the reference at least.
	StepTimeout time.Duration
	// LeaveOut leaves out a scenario that fails without any fault, and Progress says why, unless no scenario is left; by
	// default that is an error. It is for scenarios that nobody has written.
	LeaveOut bool
	// Public are words that are no secrets, though a Secret may hold them: PublicWords of the operator's manifests. By
	// default all values of Secrets are hidden but short words and numbers.
	Public sets.Set[string]
	// Seed chooses the plans where not all are played.
	Seed uint64
	// Shard is which part of the plans Explore plays; by default all.
	Shard results.Shard
	// SoFar gets the results so far whenever failures have been confirmed while plans are played, as Confirm does it; nil for
	// nothing, and Confirm confirms all in the end.
	SoFar func([]Result)
	// Progress tells how far the plans are and which fail, and how far Confirm is: on a terminal in a line that is redrawn,
	// elsewhere in lines; nil for none.
	Progress io.Writer
}

// runsPerCPU is the default of Options.Parallel for each CPU.
const runsPerCPU = 6

// Explorer plays scenarios under faults.
type Explorer struct {
	Options
	shared       *place
	places       *places
	kinds        map[schema.GroupResource]schema.GroupKind
	clusterKinds sets.Set[schema.GroupResource] // those of them that no namespace holds
	slots        chan struct{}                  // one for each run at a time
	ports        exclusion
	observed     sync.Map        // the observedRuns by their scenarios, until they are learnt
	lastingKinds sync.Map        // those of lastingRuns
	sampled      sync.Map        // of a scenario and a fault type, the Plans of which a run that passed is kept
	living       context.Context // until Close
	stop         context.CancelFunc
	lasting      context.Context // until Close begins
	endLasting   context.CancelFunc
	running      sync.WaitGroup // operators and sweeps, which may outlive their run briefly
	started      time.Time
	// learningWindow is how long nothing may change at the end of a run that has no reference.
	learningWindow time.Duration
	// watchLife is how often the watches end in a run that confirms a failure.
	watchLife time.Duration

	mu          sync.Mutex
	references  map[string]*reference
	lastingRuns []lastingRun
	permissions oracle.Permissions
	varying     sets.Set[string] // what was told to differ from run to run
	panics      []results.PanicWithoutFault

	unstored sync.Once // tells of webhook configurations
	logging  sync.Mutex
	told     *terminal.Log // to Progress; nil until something is told
}

// New returns an explorer. End it with Close.
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

// validateNamespaced rejects scenarios with cluster-scoped kinds where all runs would share their objects.
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

// namespaced tells whether a resource is namespaced.
func (e *Explorer) namespaced(resource schema.GroupResource) bool {
	_, found := e.kinds[resource]
	return found && !e.clusterKinds.Has(resource) || resource.Resource == "events" || resource.Resource == "leases"
}

// Close waits until no operator runs any more, and what runs leave is swept.
func (e *Explorer) Close() {
	e.endLasting()
	e.running.Wait()
	e.stop()
}

// Replay plays the given plans. If the fault of one never triggers, that is an error beside the results of all: such
// a plan passes whatever the operator does.
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

// playAll plays the plans. An interrupted plan has no result.
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

// playBeside plays the plans, as many at once as there are slots, beside others that count for the same progress. An interrupted
// plan has no result.
func (e *Explorer) playBeside(ctx context.Context, plans []Plan, how conditions, progress *progress, add func(Result)) {
	progress.expect(len(plans))
	var playing sync.WaitGroup
	for _, plan := range plans {
		e.slots <- struct{}{}
		playing.Go(func() {
			defer func() { <-e.slots }()
			if ctx.Err() != nil || !e.isLearnt(plan.Scenario) {
				return // the exploration was interrupted, or the reference is to be made anew
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

// Permissions are what the operator has used so far, in all runs.
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
