package oracle

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// TransitionOracle checks that updating a resource to a spec has the same result as creating a new resource with that
// spec: fresh(spec) ≡ transition(spec₀ → spec). It also covers reverted changes and the correction of an invalid spec.
// Acto (SOSP'23) uses the same oracle. Package specgen generates specs for it.
//
// All fields are required and must not be changed after first use. A TransitionOracle is safe for concurrent use.
type TransitionOracle struct {
	// History must watch the compared kinds in all namespaces.
	History *record.History
	// Namespace creates a namespace for a new resource. The namespace must not be deleted while the oracle is in use.
	Namespace func(context.Context) (string, error)
	// Apply creates or updates the resource in the namespace. It returns when the operator reports the spec as applied.
	Apply func(ctx context.Context, namespace string, spec map[string]any) error
	// StableFor is how long a namespace must remain unchanged after Apply before it is compared. It can be short,
	// because Check waits longer to confirm a difference.
	StableFor time.Duration

	namespaces sync.Map // by spec; the values return the namespace of the new resource
}

// If the namespaces differ, Check compares them again after they have been unchanged for recheckFactor times StableFor.
const recheckFactor = 10

// Check applies the spec to the existing resource in the namespace. It then compares this namespace with a reference
// namespace, in which the resource was created with the spec, and returns an error if they differ. The first call with
// a spec creates the reference namespace.
func (o *TransitionOracle) Check(ctx context.Context, namespace string, spec map[string]any) error {
	fresh, err := o.freshNamespace(ctx, spec)
	if err != nil {
		return fmt.Errorf("creating the reference resource: %w", err)
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
	return fmt.Errorf("namespace %s differs from namespace %s, which has a new resource with the same spec:\n%s", namespace, fresh, diff)
}

// freshNamespace returns a namespace with a new resource in its final state. Callers with the same spec share it.
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

func (o *TransitionOracle) applyAndWait(ctx context.Context, namespace string, spec map[string]any) error {
	if err := o.Apply(ctx, namespace, spec); err != nil {
		return fmt.Errorf("in namespace %s: %w", namespace, err)
	}
	return o.History.WaitStable(ctx, namespace, o.StableFor)
}

func (o *TransitionOracle) diff(want, got string) string {
	return Diff(NewSnapshot(want, o.History.Objects(want)), NewSnapshot(got, o.History.Objects(got)))
}
