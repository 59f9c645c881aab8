package scenario

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
)

// Env is the environment in which a scenario runs.
type Env struct {
	// Client is the user's client. It reads directly from the API server, not from a cache.
	Client client.WithWatch
	// Config is the rest.Config of the same user, for steps that start other programs. It may be nil.
	Config *rest.Config
	// Namespace is used only by this run.
	Namespace string
	// StepTimeout limits the wait for a state. Simulated Pods need seconds, but pulling images can take minutes.
	StepTimeout time.Duration
	// History wakes up waiting steps when an object changes. It is optional. If it is nil, or does not watch all of the
	// scenario's kinds, each waiting step starts its own watches.
	History *record.History
	// Converge waits until nothing is changing and the operator is idle. It is nil if the caller does not run the
	// operator, in which case scenarios that need Converge fail.
	Converge func(context.Context) error

	scenario Scenario
	values   map[string]any
	detail   string
}

// Detailf adds a short detail to the current step's result.
func (env *Env) Detailf(format string, args ...any) { env.detail = fmt.Sprintf(format, args...) }

// Set stores a value for later steps.
func (env *Env) Set(name string, value any) {
	if env.values == nil {
		env.values = map[string]any{}
	}
	env.values[name] = value
}

// Get returns a value that was stored by Set. It returns an error if there is no value of type T with this name.
func Get[T any](env *Env, name string) (T, error) {
	value, ok := env.values[name].(T)
	if !ok {
		return value, fmt.Errorf("no earlier step has set a %T as %q", value, name)
	}
	return value, nil
}

// WaitFor calls check immediately and after every change to an object of the scenario's kinds, until it returns nil.
// After StepTimeout, WaitFor returns the last error, with the status of the scenario's subjects and the latest Events.
func (env *Env) WaitFor(ctx context.Context, check func(context.Context) error) error {
	history, namespace := env.History, env.Namespace
	if history == nil || !history.Watches(env.scenario.Kinds...) {
		watching, stop := context.WithTimeout(ctx, env.StepTimeout)
		defer stop()
		var err error
		if history, err = record.NewHistory(watching, env.Client, env.Namespace, env.scenario.Kinds...); err != nil {
			return err
		}
		namespace = "" // this history only watches the namespace and cluster-scoped objects
	}
	err := history.WaitFor(ctx, namespace, env.StepTimeout, check)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w\n%s", err, env.diagnose(ctx))
	}
	return err
}
