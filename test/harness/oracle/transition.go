package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Fresh knows where an operator ends up when a resource is created with a spec where nothing was
// before, and tells whether it ends up there from elsewhere, too: fresh(spec) ≡ transition(spec₀ → spec).
// Going there and back again, and correcting a spec that could not be had, are such ways. This is the
// oracle of Acto (SOSP'23); package specs invents specs for it.
//
// Every field must be set, and is not to change afterwards. It is safe for concurrent use.
type Fresh struct {
	// Witness sees the kinds that count, in all namespaces.
	Witness *Witness
	// Namespace makes one for a fresh resource, which stays for comparison.
	Namespace func(context.Context) (string, error)
	// Reach gives the spec to the namespace's resource, which it creates if there is none, and returns
	// when the operator says that it has done what the spec asks for.
	Reach func(ctx context.Context, namespace string, spec map[string]any) error
	// Calm is for how long nothing may change in a namespace, then, for that to be the end. It may be
	// short: what looks different is looked at again when nothing has changed for ten times as long.
	Calm time.Duration

	mu         sync.Mutex
	namespaces map[string]func() (string, error) // of fresh resources, by spec
}

// doubt is how many times as long nothing may change before a difference counts.
const doubt = 10

// Same brings the namespace's resource to a spec, from wherever it is. The error shows what is then
// otherwise than with a fresh resource. That is made when a spec is met for the first time.
func (f *Fresh) Same(ctx context.Context, namespace string, spec map[string]any) error {
	fresh, err := f.fresh(ctx, spec)
	if err != nil {
		return fmt.Errorf("a fresh resource: %w", err)
	}
	if err := f.end(ctx, namespace, spec); err != nil {
		return err
	}
	diff, err := f.diff(fresh, namespace)
	if err != nil || diff == "" {
		return err
	}
	for _, either := range []string{fresh, namespace} {
		if err := f.Witness.Calm(ctx, either, doubt*f.Calm); err != nil {
			return err
		}
	}
	if diff, err = f.diff(fresh, namespace); err != nil || diff == "" {
		return err
	}
	return fmt.Errorf("namespace %s ends otherwise than that of a fresh resource, %s, which is what is wanted:\n%s", namespace, fresh, diff)
}

// fresh is where a fresh resource has come to its end. Who asks while another makes it waits for that.
func (f *Fresh) fresh(ctx context.Context, spec map[string]any) (string, error) {
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
			return namespace, f.end(ctx, namespace, spec)
		})
		f.namespaces[string(key)] = find
	}
	f.mu.Unlock()
	return find()
}

// end brings a namespace's resource to a spec, and waits for the end.
func (f *Fresh) end(ctx context.Context, namespace string, spec map[string]any) error {
	if err := f.Reach(ctx, namespace, spec); err != nil {
		return fmt.Errorf("in namespace %s: %w", namespace, err)
	}
	return f.Witness.Calm(ctx, namespace, f.Calm)
}

func (f *Fresh) diff(want, got string) (string, error) {
	wanted, err := NewSnapshot(want, f.Witness.Objects(want))
	if err != nil {
		return "", err
	}
	gotten, err := NewSnapshot(got, f.Witness.Objects(got))
	return Diff(wanted, gotten), err
}

// Calm waits until nothing has changed in a namespace for a whole window, which begins with the call:
// what has just been done may not have been seen yet.
func (w *Witness) Calm(ctx context.Context, namespace string, window time.Duration) error {
	since := time.Now()
	for {
		changed, last := w.Changed(namespace)
		if last.After(since) {
			since = last
		}
		remaining := time.Until(since.Add(window))
		if remaining <= 0 {
			return nil
		}
		select {
		case <-changed:
		case <-time.After(remaining):
		case <-ctx.Done():
			return fmt.Errorf("namespace %s was not calm for %s: %w", namespace, window, context.Cause(ctx))
		}
	}
}

// Objects are those of a namespace as they were last seen.
func (w *Witness) Objects(namespace string) []unstructured.Unstructured {
	history := w.History(namespace)
	latest := map[types.UID]int{}
	for i, version := range history {
		latest[version.GetUID()] = i
	}
	var objects []unstructured.Unstructured
	for i, version := range history {
		if latest[version.GetUID()] == i && !version.Deleted {
			objects = append(objects, *version.Unstructured)
		}
	}
	return objects
}
