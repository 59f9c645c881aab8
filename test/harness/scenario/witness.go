package scenario

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Version is an object as it was at one moment of its life, which a watcher saw.
type Version struct {
	*unstructured.Unstructured
	// Deleted tells the last version, with which the object went.
	Deleted bool
}

// Witness keeps every version of a namespace's objects that a watcher can see, so that what is
// true only in the end can be told from what was true all along.
type Witness struct {
	mu       sync.Mutex
	versions []Version
}

// Witness watches the kinds in the world's namespace until ctx ends. It misses nothing when it is
// called before the first object is created.
func (w *World) Witness(ctx context.Context, kinds ...schema.GroupVersionKind) (*Witness, error) {
	witness := &Witness{}
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		events, err := w.Client.Watch(ctx, list, client.InNamespace(w.Namespace))
		if err != nil {
			return nil, fmt.Errorf("cannot watch %s: %w", kind.Kind, err)
		}
		go func() {
			for event := range events.ResultChan() {
				if object, ok := event.Object.(*unstructured.Unstructured); ok && event.Type != watch.Error {
					witness.add(Version{Unstructured: object, Deleted: event.Type == watch.Deleted})
				}
			}
		}()
	}
	return witness, nil
}

func (w *Witness) add(version Version) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.versions = append(w.versions, version)
}

// History gives the versions seen so far in the order in which they came to be: resource versions
// count the writes of the whole cluster.
func (w *Witness) History() []Version {
	w.mu.Lock()
	history := slices.Clone(w.versions)
	w.mu.Unlock()
	slices.SortStableFunc(history, func(a, b Version) int { return cmp.Compare(revision(a), revision(b)) })
	return history
}

func revision(version Version) uint64 {
	revision, err := strconv.ParseUint(version.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0 // the API promises numbers; sorted first, a stranger is at least seen
	}
	return revision
}
