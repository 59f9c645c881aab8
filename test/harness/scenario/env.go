package scenario

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/test/harness/record"
)

// Env is where one run of a scenario takes place: a namespace of its own, seen with the eyes of
// its user.
type Env struct {
	// Client acts as the user; it reads from the API server, not from a cache.
	Client client.WithWatch
	// Namespace is the run's own.
	Namespace string
	// StepTimeout is how long a state may take to come about: seconds where Pods are simulated, minutes
	// where images are pulled.
	StepTimeout time.Duration
	// History, if there is one and it sees the scenario's kinds, tells when to look again. Without, each step
	// that waits opens watches of its own.
	History *record.History

	scenario Scenario
	values   map[string]any
	detail   string
}

// Detailf is what the current step has to tell in few words.
func (env *Env) Detailf(format string, args ...any) { env.detail = fmt.Sprintf(format, args...) }

// Set keeps a value under a name for a later step.
func (env *Env) Set(name string, value any) {
	if env.values == nil {
		env.values = map[string]any{}
	}
	env.values[name] = value
}

// Get gives the value that an earlier step remembered. That none did is a mistake in the
// scenario, which the error says.
func Get[T any](env *Env, name string) (T, error) {
	value, ok := env.values[name].(T)
	if !ok {
		return value, fmt.Errorf("no earlier step remembered a %T as %q", value, name)
	}
	return value, nil
}

// WaitFor waits until check returns nil: the one way in which a step waits for a state. It runs check at once, and
// again whenever an object of the scenario's kinds changes. After StepTimeout the error is the last one of check,
// with the status and the Events of the scenario's subjects.
func (env *Env) WaitFor(ctx context.Context, check func(context.Context) error) error {
	history, namespace := env.History, env.Namespace
	if history == nil || !history.Watches(env.scenario.Kinds...) {
		watching, stop := context.WithTimeout(ctx, env.StepTimeout)
		defer stop()
		var err error
		if history, err = record.NewHistory(watching, env.Client, env.Namespace, env.scenario.Kinds...); err != nil {
			return err
		}
		namespace = "" // this history has no other, but objects without one
	}
	err := history.WaitFor(ctx, namespace, env.StepTimeout, check)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w\n%s", err, env.Diagnose(ctx))
	}
	return err
}
