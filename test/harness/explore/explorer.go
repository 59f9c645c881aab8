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
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/operator-assay/assay/test/harness/controlplane"
	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/oracle"
	"github.com/operator-assay/assay/test/harness/record"
	"github.com/operator-assay/assay/test/harness/scenario"
)

// Operator runs one incarnation of the operator under test until ctx ends, and logs into log. One that
// ends before that has an error, even if it is content.
type Operator func(ctx context.Context, config *rest.Config, log io.Writer) error

// Options say what is explored, and how.
type Options struct {
	// ControlPlane is the control plane that all runs share.
	ControlPlane *controlplane.ControlPlane
	// Identity is who the operator is.
	Identity *rest.Config
	// Operator is the one under test.
	Operator Operator
	// Scenarios are what it is led through.
	Scenarios []scenario.Scenario
	// Invariants judge what a watcher could see of a run at any moment, given every version of the
	// namespace's objects; nil if there is nothing to say. Some hold only under certain faults.
	Invariants func(faultinject.Category, []record.ObjectVersion) error
	// StepTimeout is how long a state of a scenario may take to come about, deaths and delays included;
	// 20 s by default.
	StepTimeout time.Duration
	// Seed decides which of the plans are played where not all are.
	Seed uint64
	// Progress gets a line now and then while plans are played; nil: none.
	Progress io.Writer
}

// runsPerCPU is how many runs go side by side for each CPU: most of a run is waiting.
const runsPerCPU = 6

// Explorer plays scenarios under faults.
type Explorer struct {
	Options
	history *record.History
	kinds   map[schema.GroupResource]schema.GroupKind // that a namespace can hold
	slots   chan struct{}                             // of runs
	stop    context.CancelFunc
	running sync.WaitGroup // operators, which may outlive their run by a moment

	mu          sync.Mutex
	references  map[string]*reference
	permissions oracle.Permissions
}

// New returns an explorer, which Close ends.
func New(ctx context.Context, options Options) (*Explorer, error) {
	options.StepTimeout = cmp.Or(options.StepTimeout, 20*time.Second)
	e := &Explorer{Options: options, kinds: map[schema.GroupResource]schema.GroupKind{}, references: map[string]*reference{}, permissions: oracle.Permissions{}}
	e.slots = make(chan struct{}, runsPerCPU*runtime.GOMAXPROCS(0))
	resources, err := record.NewResourceLister(options.ControlPlane.Config)
	if err != nil {
		return nil, err
	}
	kinds, err := resources.Kinds()
	if err != nil {
		return nil, err
	}
	for resource, kind := range kinds {
		e.kinds[resource.GroupResource()] = kind.GroupKind()
	}
	if err := options.validateNamespaced(); err != nil {
		return nil, err
	}
	living, stop := context.WithCancel(context.WithoutCancel(ctx))
	e.stop = stop
	e.history, err = resources.History(living, options.ControlPlane.Client)
	if err != nil {
		stop()
	}
	return e, err
}

// validateNamespaced refuses scenarios with kinds whose objects all runs would share.
func (o Options) validateNamespaced() error {
	for _, s := range o.Scenarios {
		for _, kind := range s.Kinds {
			switch namespaced, err := apiutil.IsGVKNamespaced(kind, o.ControlPlane.Client.RESTMapper()); {
			case err != nil:
				return fmt.Errorf("%s: %w", s.Name, err)
			case !namespaced:
				return fmt.Errorf("%s: %s is cluster-wide, so that all runs would share its objects: explore what is in namespaces", s.Name, kind.Kind)
			}
		}
	}
	return nil
}

// namespaced tells whether a resource's objects live in namespaces.
func (e *Explorer) namespaced(resource schema.GroupResource) bool {
	_, found := e.kinds[resource]
	return found || resource.Resource == "events" || resource.Resource == "leases"
}

// Close waits until no operator runs any more.
func (e *Explorer) Close() {
	e.running.Wait()
	e.stop()
}

// Explore plays all plans of the families and gives their results in the order of the plans. The error
// tells of a scenario that does not work without any fault: nothing can be learnt from it. Interrupted, it gives the
// results so far, and why.
func (e *Explorer) Explore(ctx context.Context, families ...faultinject.Category) ([]Result, error) {
	if err := e.learn(ctx); err != nil {
		return nil, err
	}
	var plans []Plan
	for _, family := range families {
		plans = append(plans, e.plans(family)...)
	}
	results := e.playAll(ctx, plans)
	return results, context.Cause(ctx)
}

// Replay plays these plans. One whose fault befalls nothing is an error, beside the results of all: it would pass
// whatever the operator does.
func (e *Explorer) Replay(ctx context.Context, plans ...Plan) ([]Result, error) {
	var names []string
	for _, plan := range plans {
		names = append(names, plan.Scenario)
	}
	if err := e.learn(ctx, names...); err != nil {
		return nil, err
	}
	results := e.playAll(ctx, plans)
	for _, result := range results {
		if ctx.Err() == nil && !result.Triggered && len(result.Findings) == 0 {
			return results, fmt.Errorf("plan %q befell nothing: the operator has not asked for that, or nothing has happened there", result.Plan)
		}
	}
	return results, context.Cause(ctx)
}

// playAll plays the plans, as many at once as there are places. What is interrupted has no result.
func (e *Explorer) playAll(ctx context.Context, plans []Plan) []Result {
	results := make([]Result, len(plans))
	progress := newProgress(e.Progress, len(plans))
	var playing sync.WaitGroup
	for i, plan := range plans {
		e.slots <- struct{}{}
		playing.Go(func() {
			defer func() { <-e.slots }()
			if ctx.Err() != nil {
				return // whoever interrupts does not want the rest
			}
			result := e.judge(ctx, plan)
			if ctx.Err() == nil {
				results[i] = result
				progress.add(result)
			}
		})
	}
	playing.Wait()
	return slices.DeleteFunc(results, func(r Result) bool { return r.Scenario == "" })
}

// learn makes the references of all scenarios, or of those named, that are not known yet.
func (e *Explorer) learn(ctx context.Context, names ...string) error {
	failures := make([]error, len(e.Scenarios))
	var learning sync.WaitGroup
	for i, s := range e.Scenarios {
		if e.reference(s.Name) != nil || len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		e.slots <- struct{}{}
		learning.Go(func() {
			defer func() { <-e.slots }()
			reference, err := e.learnScenario(ctx, s)
			if err != nil {
				failures[i] = err
				return
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			e.references[s.Name] = reference
		})
	}
	learning.Wait()
	for _, err := range failures {
		if err != nil {
			return err // one is enough: what keeps one from working often keeps all
		}
	}
	return nil
}

// Permissions are what the operator has asked of the API server so far, in all runs.
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
	return e.Scenarios[slices.IndexFunc(e.Scenarios, func(s scenario.Scenario) bool { return s.Name == name })]
}
