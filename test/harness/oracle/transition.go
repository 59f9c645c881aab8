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
	// Namespace makes one for a fresh resource.
	Namespace func(context.Context) (string, error)
	// Reach gives the spec to the namespace's resource, which it creates if there is none, and returns
	// when the operator says that it has done what the spec asks for.
	Reach func(ctx context.Context, namespace string, spec map[string]any) error
	// Calm is for how long nothing may change in a namespace, then, for that to be the end.
	Calm time.Duration

	mu   sync.Mutex
	ends map[string]func() (Snapshot, error) // by spec
}

// Same brings the namespace's resource to a spec, from wherever it is. The error shows what is then
// otherwise than with a fresh resource. That is made when a spec is met for the first time.
func (f *Fresh) Same(ctx context.Context, namespace string, spec map[string]any) error {
	want, err := f.fresh(ctx, spec)
	if err != nil {
		return fmt.Errorf("a fresh resource: %w", err)
	}
	got, err := f.end(ctx, namespace, spec)
	if err != nil {
		return err
	}
	if diff := Diff(want, got); diff != "" {
		return fmt.Errorf("it ends otherwise than a fresh resource does, which is what is wanted:\n%s", diff)
	}
	return nil
}

// fresh is where a fresh resource ends. Who asks while another finds out waits for that.
func (f *Fresh) fresh(ctx context.Context, spec map[string]any) (Snapshot, error) {
	key, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	if f.ends == nil {
		f.ends = map[string]func() (Snapshot, error){}
	}
	end := f.ends[string(key)]
	if end == nil {
		end = sync.OnceValues(func() (Snapshot, error) {
			namespace, err := f.Namespace(ctx)
			if err != nil {
				return nil, err
			}
			return f.end(ctx, namespace, spec)
		})
		f.ends[string(key)] = end
	}
	f.mu.Unlock()
	return end()
}

// end is where a namespace ends when its resource gets the spec.
func (f *Fresh) end(ctx context.Context, namespace string, spec map[string]any) (Snapshot, error) {
	if err := f.Reach(ctx, namespace, spec); err != nil {
		return nil, fmt.Errorf("in namespace %s: %w", namespace, err)
	}
	if err := f.Witness.Calm(ctx, namespace, f.Calm); err != nil {
		return nil, err
	}
	return NewSnapshot(namespace, f.Witness.Objects(namespace))
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
