package scenario

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
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

// WaitFor returns as soon as check finds nothing amiss. It looks first, and again whenever an object
// of the scenario's kinds changes: it waits on watches, never on a timer. When patience ends, the
// error is check's last one with what was last seen of the subject and its Events.
func (env *Env) WaitFor(ctx context.Context, check func(context.Context) error) error {
	waiting, cancel := context.WithTimeout(ctx, env.StepTimeout)
	defer cancel()
	start := time.Now()
	changes, err := env.changeSource(waiting)
	if err != nil {
		return err
	}
	for {
		changed := changes() // from before the look
		amiss := check(ctx)
		if amiss == nil {
			return nil
		}
		select {
		case <-changed:
		case <-waiting.Done():
			if ctx.Err() != nil {
				return fmt.Errorf("%w, when %w", context.Cause(ctx), amiss)
			}
			if amiss = check(ctx); amiss == nil {
				return nil // a watch that had broken off did not tell
			}
			return fmt.Errorf("after %s: %w\n%s", time.Since(start).Round(time.Second/10), amiss, env.Diagnose(ctx))
		}
	}
}

// watchRetry is how long to leave an API server alone that refuses a watch.
const watchRetry = 200 * time.Millisecond

// changeSource gives what gives a channel that tells of the next change.
func (env *Env) changeSource(ctx context.Context) (func() <-chan struct{}, error) {
	if env.History != nil && env.History.Watches(env.scenario.Kinds...) {
		return func() <-chan struct{} {
			changed, _ := env.History.Changed(env.Namespace)
			return changed
		}, nil
	}
	pulse, err := env.changeSignal(ctx)
	return func() <-chan struct{} { return pulse }, err
}

// changeSignal opens a watch on each of the scenario's kinds and pulses whenever something happens there.
func (env *Env) changeSignal(ctx context.Context) (<-chan struct{}, error) {
	pulse := make(chan struct{}, 1)
	for _, kind := range env.scenario.Kinds {
		events, err := env.watch(ctx, kind)
		if err != nil {
			return nil, fmt.Errorf("cannot watch %s: %w", kind.Kind, err)
		}
		go func() {
			for ctx.Err() == nil {
				for range events.ResultChan() {
					select {
					case pulse <- struct{}{}:
					default: // the last pulse has not been taken yet and stands for this one too
					}
				}
				// API servers end watches now and then. What happened meanwhile comes with the next.
				again, err := env.watch(ctx, kind)
				for err != nil && ctx.Err() == nil {
					<-time.After(watchRetry)
					again, err = env.watch(ctx, kind)
				}
				events = again
			}
		}()
	}
	return pulse, nil
}

func (env *Env) watch(ctx context.Context, kind schema.GroupVersionKind) (watch.Interface, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	return env.Client.Watch(ctx, list, client.InNamespace(env.Namespace))
}
