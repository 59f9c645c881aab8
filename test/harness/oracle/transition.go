package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/operator-assay/assay/test/harness/record"
)

// TransitionOracle knows where an operator ends up when a resource is created with a spec where nothing was
// before, and tells whether it ends up there from elsewhere, too: fresh(spec) ≡ transition(spec₀ → spec).
// Going there and back again, and correcting a spec that could not be had, are such ways. This is the
// oracle of Acto (SOSP'23); package specgen invents specs for it.
//
// Every field must be set, and is not to change afterwards. It is safe for concurrent use.
type TransitionOracle struct {
	// Versions sees the kinds that count, in all namespaces.
	History *record.History
	// Namespace makes one for a fresh resource, which stays for comparison.
	Namespace func(context.Context) (string, error)
	// Apply gives the spec to the namespace's resource, which it creates if there is none, and returns
	// when the operator says that it has done what the spec asks for.
	Apply func(ctx context.Context, namespace string, spec map[string]any) error
	// WaitStable is for how long nothing may change in a namespace, then, for that to be the end. It may be
	// short: what looks different is looked at again when nothing has changed for ten times as long.
	StableFor time.Duration

	mu         sync.Mutex
	namespaces map[string]func() (string, error) // of fresh resources, by spec
}

// recheckFactor is how many times as long nothing may change before a difference counts.
const recheckFactor = 10

// Check brings the namespace's resource to a spec, from wherever it is. The error shows what is then
// otherwise than with a fresh resource. That is made when a spec is met for the first time.
func (f *TransitionOracle) Check(ctx context.Context, namespace string, spec map[string]any) error {
	fresh, err := f.freshNamespace(ctx, spec)
	if err != nil {
		return fmt.Errorf("a fresh resource: %w", err)
	}
	if err := f.applyAndWait(ctx, namespace, spec); err != nil {
		return err
	}
	diff, err := f.diff(fresh, namespace)
	if err != nil || diff == "" {
		return err
	}
	for _, either := range []string{fresh, namespace} {
		if err := f.History.WaitStable(ctx, either, recheckFactor*f.StableFor); err != nil {
			return err
		}
	}
	if diff, err = f.diff(fresh, namespace); err != nil || diff == "" {
		return err
	}
	return fmt.Errorf("namespace %s ends otherwise than that of a fresh resource, %s, which is what is wanted:\n%s", namespace, fresh, diff)
}

// freshNamespace is where a fresh resource has come to its end. Who asks while another makes it waits for that.
func (f *TransitionOracle) freshNamespace(ctx context.Context, spec map[string]any) (string, error) {
	key, err := json.Marshal(spec)
	if err != nil {
		return "", err
	}
	f.mu.Lock()
	if f.namespaces == nil {
		f.namespaces = map[string]func() (string, error){}
	}
	find := f.namespaces[string(key)]
	if find == nil {
		find = sync.OnceValues(func() (string, error) {
			namespace, err := f.Namespace(ctx)
			if err != nil {
				return "", err
			}
			return namespace, f.applyAndWait(ctx, namespace, spec)
		})
		f.namespaces[string(key)] = find
	}
	f.mu.Unlock()
	return find()
}

// applyAndWait brings a namespace's resource to a spec, and waits for the end.
func (f *TransitionOracle) applyAndWait(ctx context.Context, namespace string, spec map[string]any) error {
	if err := f.Apply(ctx, namespace, spec); err != nil {
		return fmt.Errorf("in namespace %s: %w", namespace, err)
	}
	return f.History.WaitStable(ctx, namespace, f.StableFor)
}

func (f *TransitionOracle) diff(want, got string) (string, error) {
	wanted, err := NewSnapshot(want, f.History.Objects(want))
	if err != nil {
		return "", err
	}
	gotten, err := NewSnapshot(got, f.History.Objects(got))
	return Diff(wanted, gotten), err
}
