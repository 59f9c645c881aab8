package record

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ObjectVersion is an object as it was at one moment of its life, which a watcher saw.
type ObjectVersion struct {
	*unstructured.Unstructured
	// Deleted tells the last version, with which the object went.
	Deleted bool
}

// Versions keeps every version of objects that a watcher can see, so that what is true only in the
// applyAndWait can be told from what was true all along.
type History struct {
	kinds []schema.GroupVersionKind

	mu      sync.Mutex
	seen    map[string][]ObjectVersion // by namespace
	latest  map[string]time.Time       // when the last of them came
	waiting map[string]chan struct{}   // closed and removed when one comes
}

// NewHistory watches the kinds in a namespace, or in all if it is empty, until ctx ends. What exists
// already is seen as it is now.
func NewHistory(ctx context.Context, reader client.WithWatch, namespace string, kinds ...schema.GroupVersionKind) (*History, error) {
	w := &History{kinds: kinds, seen: map[string][]ObjectVersion{}, latest: map[string]time.Time{}, waiting: map[string]chan struct{}{}}
	for _, kind := range kinds {
		if err := w.watch(ctx, reader, namespace, kind); err != nil {
			return nil, fmt.Errorf("cannot watch %s: %w", kind.Kind, err)
		}
	}
	return w, nil
}

// Watches tells whether all of the kinds are watched.
func (w *History) Watches(kinds ...schema.GroupVersionKind) bool {
	return !slices.ContainsFunc(kinds, func(kind schema.GroupVersionKind) bool { return !slices.Contains(w.kinds, kind) })
}

// watch follows a kind, and returns when it has seen what exists already.
func (w *History) watch(ctx context.Context, reader client.WithWatch, namespace string, kind schema.GroupVersionKind) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := reader.List(ctx, list, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return err // a reflector would go on trying
	}
	source := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			all := list.NewEmptyInstance().(*unstructured.UnstructuredList)
			return all, reader.List(ctx, all, &client.ListOptions{Namespace: namespace, Raw: &options})
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return reader.Watch(ctx, list, &client.ListOptions{Namespace: namespace, Raw: &options})
		},
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	n := &reflectorStore{History: w, kind: kind, listed: make(chan struct{})}
	silent := logr.Discard() // a watch that breaks is begun anew, which is nobody's concern
	go cache.NewReflectorWithOptions(source, object, n, cache.ReflectorOptions{Logger: &silent}).RunWithContext(ctx)
	select {
	case <-n.listed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reflectorStore are what a reflector tells a witness of a kind.
type reflectorStore struct {
	*History
	kind   schema.GroupVersionKind
	listed chan struct{} // closed when all has been seen once
	once   sync.Once
}

func (n *reflectorStore) Add(object any) error    { return n.store(object, false) }
func (n *reflectorStore) Update(object any) error { return n.store(object, false) }
func (n *reflectorStore) Delete(object any) error { return n.store(object, true) }
func (n *reflectorStore) Resync() error           { return nil }

// Replace comes with all that there is, in the beginning and whenever a watch has lost its place. What came and
// went in between has not been seen by anybody.
func (n *reflectorStore) Replace(objects []any, _ string) error {
	known := n.current(n.kind)
	for _, object := range objects {
		object := object.(*unstructured.Unstructured)
		if was := known[object.GetUID()]; was == nil || was.GetResourceVersion() != object.GetResourceVersion() {
			n.Record(ObjectVersion{Unstructured: object})
		}
		delete(known, object.GetUID())
	}
	for _, gone := range known {
		n.Record(ObjectVersion{Unstructured: gone, Deleted: true})
	}
	n.once.Do(func() { close(n.listed) })
	return nil
}

func (n *reflectorStore) store(object any, deleted bool) error {
	n.Record(ObjectVersion{Unstructured: object.(*unstructured.Unstructured), Deleted: deleted})
	return nil
}

// current are the objects of a kind that were there when last seen.
func (w *History) current(kind schema.GroupVersionKind) map[types.UID]*unstructured.Unstructured {
	w.mu.Lock()
	namespaces := slices.Collect(maps.Keys(w.seen))
	w.mu.Unlock()
	living := map[types.UID]*unstructured.Unstructured{}
	for _, namespace := range namespaces {
		for _, object := range w.Objects(namespace) {
			if object.GroupVersionKind() == kind {
				living[object.GetUID()] = &object
			}
		}
	}
	return living
}

// Record adds a version to the history. The watches call it, and tests that have none.
func (w *History) Record(version ObjectVersion) {
	w.mu.Lock()
	defer w.mu.Unlock()
	namespace := version.GetNamespace()
	w.seen[namespace] = append(w.seen[namespace], version)
	w.latest[namespace] = time.Now()
	if waiting := w.waiting[namespace]; waiting != nil {
		close(waiting)
		delete(w.waiting, namespace)
	}
}

// Versions gives the versions seen so far in a namespace, in the order in which they came to be:
// resource versions count the writes of the whole cluster.
func (w *History) Versions(namespace string) []ObjectVersion {
	w.mu.Lock()
	history := slices.Clone(w.seen[namespace])
	w.mu.Unlock()
	slices.SortStableFunc(history, func(a, b ObjectVersion) int { return cmp.Compare(revision(a), revision(b)) })
	return history
}

// Changed gives a channel that is closed when the next version is seen in a namespace, and when the
// last one was.
func (w *History) Changed(namespace string) (<-chan struct{}, time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[namespace] == nil {
		w.waiting[namespace] = make(chan struct{})
	}
	return w.waiting[namespace], w.latest[namespace]
}

// Drop drops what was seen in a namespace, which a long run has no memory for.
func (w *History) Drop(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.seen, namespace)
	delete(w.latest, namespace)
}

func revision(version ObjectVersion) uint64 {
	revision, err := strconv.ParseUint(version.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0 // the API promises numbers; sorted first, a stranger is at least seen
	}
	return revision
}

// WaitStable waits until nothing has changed in a namespace for a whole window, which begins with the call:
// what has just been done may not have been seen yet.
func (w *History) WaitStable(ctx context.Context, namespace string, window time.Duration) error {
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
func (w *History) Objects(namespace string) []unstructured.Unstructured {
	history := w.Versions(namespace)
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
