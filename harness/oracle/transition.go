package oracle

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// TransitionOracle compares a resource that was changed to a spec with a fresh resource of that spec: fresh(spec) ≡
// transition(spec₀ → spec). Changes there and back, and the correction of an impossible spec, are such transitions.
// This is the oracle of Acto (SOSP'23); package specgen generates specs for it.
//
// Every field must be set, and must not change afterwards. It is safe for concurrent use.
type TransitionOracle struct {
	// History watches the compared kinds in all namespaces.
	History *record.History
	// Namespace creates a namespace for a fresh resource, which stays for comparison.
	Namespace func(context.Context) (string, error)
	// Apply applies the spec to the namespace's resource, which it creates if there is none, and returns when the
	// operator reports that the spec is reached.
	Apply func(ctx context.Context, namespace string, spec map[string]any) error
	// StableFor is for how long nothing may change in a namespace, after Apply, before it is compared. It may be
	// short: a difference counts only when nothing has changed for ten times as long.
	StableFor time.Duration

	namespaces sync.Map // functions that return those of fresh resources, by spec
}

// recheckFactor is how many times as long nothing may change before a difference counts.
const recheckFactor = 10

// Check changes the namespace's resource to a spec. The error shows how its namespace then differs from that of a
// fresh resource, which is created when a spec is first given.
func (o *TransitionOracle) Check(ctx context.Context, namespace string, spec map[string]any) error {
	fresh, err := o.freshNamespace(ctx, spec)
	if err != nil {
		return fmt.Errorf("a fresh resource: %w", err)
	}
	if err := o.applyAndWait(ctx, namespace, spec); err != nil {
		return err
	}
	if o.diff(fresh, namespace) == "" {
		return nil
	}
	for _, either := range []string{fresh, namespace} {
		if err := o.History.WaitStable(ctx, either, recheckFactor*o.StableFor); err != nil {
			return err
		}
	}
	diff := o.diff(fresh, namespace)
	if diff == "" {
		return nil
	}
	return fmt.Errorf("namespace %s differs from namespace %s, which has a fresh resource:\n%s", namespace, fresh, diff)
}

// freshNamespace returns the namespace of a fresh resource that has reached its final state. Concurrent callers with
// the same spec share one.
func (o *TransitionOracle) freshNamespace(ctx context.Context, spec map[string]any) (string, error) {
	find, _ := o.namespaces.LoadOrStore(text(spec), sync.OnceValues(func() (string, error) {
		namespace, err := o.Namespace(ctx)
		if err != nil {
			return "", err
		}
		return namespace, o.applyAndWait(ctx, namespace, spec)
	}))
	return find.(func() (string, error))()
}

// applyAndWait applies a spec to a namespace's resource, and waits for the final state.
func (o *TransitionOracle) applyAndWait(ctx context.Context, namespace string, spec map[string]any) error {
	if err := o.Apply(ctx, namespace, spec); err != nil {
		return fmt.Errorf("in namespace %s: %w", namespace, err)
	}
	return o.History.WaitStable(ctx, namespace, o.StableFor)
}

func (o *TransitionOracle) diff(want, got string) string {
	return Diff(NewSnapshot(want, o.History.Objects(want)), NewSnapshot(got, o.History.Objects(got)))
}
