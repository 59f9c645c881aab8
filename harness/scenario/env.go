package scenario

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
)

// Env is the environment of one run of a scenario: a namespace of its own, and a client that acts as its user.
type Env struct {
	// Client acts as the user. It reads from the API server, not from a cache.
	Client client.WithWatch
	// Config is that of the same user, for steps that are programs of their own; nil where there are none.
	Config *rest.Config
	// Namespace belongs to the run alone.
	Namespace string
	// StepTimeout is how long a state may take: seconds where Pods are simulated, minutes where images are pulled. Each
	// suite of this repository sets its own, in its timeouts_test.go; explore.Options has the explorer's.
	StepTimeout time.Duration
	// History tells when to check a state again, if it is set and watches the scenario's kinds. Otherwise each step
	// that waits opens watches of its own.
	History *record.History
	// Converge waits until nothing changes any more, and the operator is idle. Only who runs the operator knows that:
	// it is nil elsewhere, and scenarios with such a step fail.
	Converge func(context.Context) error

	scenario Scenario
	values   map[string]any
	detail   string
}

// Detailf sets the detail of the current step's result, in few words.
func (env *Env) Detailf(format string, args ...any) { env.detail = fmt.Sprintf(format, args...) }

// Set keeps a value for later steps.
func (env *Env) Set(name string, value any) {
	if env.values == nil {
		env.values = map[string]any{}
	}
	env.values[name] = value
}

// Get returns the value that an earlier step has set. If none did, that is a mistake in the scenario, and an error.
func Get[T any](env *Env, name string) (T, error) {
	value, ok := env.values[name].(T)
	if !ok {
		return value, fmt.Errorf("no earlier step has set a %T as %q", value, name)
	}
	return value, nil
}

// WaitFor waits until check returns nil. It runs check at once, and again whenever an object of the scenario's kinds
// changes. After StepTimeout it returns check's last error, with the status and the Events of the scenario's
// subjects.
func (env *Env) WaitFor(ctx context.Context, check func(context.Context) error) error {
	history, namespace := env.History, env.Namespace
	if history == nil || !history.Watches(env.scenario.Kinds...) {
		watching, stop := context.WithTimeout(ctx, env.StepTimeout)
		defer stop()
		var err error
		if history, err = record.NewHistory(watching, env.Client, env.Namespace, env.scenario.Kinds...); err != nil {
			return err
		}
		namespace = "" // this history has only it, and cluster-scoped objects
	}
	err := history.WaitFor(ctx, namespace, env.StepTimeout, check)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w\n%s", err, env.diagnose(ctx))
	}
	return err
}
