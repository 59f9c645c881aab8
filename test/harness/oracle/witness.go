package oracle

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

// Version is an object as it was at one moment of its life, which a watcher saw.
type Version struct {
	*unstructured.Unstructured
	// Deleted tells the last version, with which the object went.
	Deleted bool
}

// Witness keeps every version of objects that a watcher can see, so that what is true only in the
// end can be told from what was true all along.
type Witness struct {
	kinds []schema.GroupVersionKind

	mu      sync.Mutex
	seen    map[string][]Version     // by namespace
	latest  map[string]time.Time     // when the last of them came
	waiting map[string]chan struct{} // closed and removed when one comes
}

// NewWitness watches the kinds in a namespace, or in all if it is empty, until ctx ends. What exists
// already is seen as it is now.
func NewWitness(ctx context.Context, reader client.WithWatch, namespace string, kinds ...schema.GroupVersionKind) (*Witness, error) {
	w := &Witness{kinds: kinds, seen: map[string][]Version{}, latest: map[string]time.Time{}, waiting: map[string]chan struct{}{}}
	for _, kind := range kinds {
		if err := w.watch(ctx, reader, namespace, kind); err != nil {
			return nil, fmt.Errorf("cannot watch %s: %w", kind.Kind, err)
		}
	}
	return w, nil
}

// Sees tells whether all of the kinds are watched.
func (w *Witness) Sees(kinds ...schema.GroupVersionKind) bool {
	return !slices.ContainsFunc(kinds, func(kind schema.GroupVersionKind) bool { return !slices.Contains(w.kinds, kind) })
}

// watch follows a kind, and returns when it has seen what exists already.
func (w *Witness) watch(ctx context.Context, reader client.WithWatch, namespace string, kind schema.GroupVersionKind) error {
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
	n := &notes{Witness: w, kind: kind, begun: make(chan struct{})}
	silent := logr.Discard() // a watch that breaks is begun anew, which is nobody's concern
	go cache.NewReflectorWithOptions(source, object, n, cache.ReflectorOptions{Logger: &silent}).RunWithContext(ctx)
	select {
	case <-n.begun:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// notes are what a reflector tells a witness of a kind.
type notes struct {
	*Witness
	kind  schema.GroupVersionKind
	begun chan struct{} // closed when all has been seen once
	once  sync.Once
}

func (n *notes) Add(object any) error    { return n.note(object, false) }
func (n *notes) Update(object any) error { return n.note(object, false) }
func (n *notes) Delete(object any) error { return n.note(object, true) }
func (n *notes) Resync() error           { return nil }

// Replace comes with all that there is, in the beginning and whenever a watch has lost its place. What came and
// went in between has not been seen by anybody.
func (n *notes) Replace(objects []any, _ string) error {
	known := n.living(n.kind)
	for _, object := range objects {
		object := object.(*unstructured.Unstructured)
		if was := known[object.GetUID()]; was == nil || was.GetResourceVersion() != object.GetResourceVersion() {
			n.add(Version{Unstructured: object})
		}
		delete(known, object.GetUID())
	}
	for _, gone := range known {
		n.add(Version{Unstructured: gone, Deleted: true})
	}
	n.once.Do(func() { close(n.begun) })
	return nil
}

func (n *notes) note(object any, deleted bool) error {
	n.add(Version{Unstructured: object.(*unstructured.Unstructured), Deleted: deleted})
	return nil
}

// living are the objects of a kind that were there when last seen.
func (w *Witness) living(kind schema.GroupVersionKind) map[types.UID]*unstructured.Unstructured {
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

func (w *Witness) add(version Version) {
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

// History gives the versions seen so far in a namespace, in the order in which they came to be:
// resource versions count the writes of the whole cluster.
func (w *Witness) History(namespace string) []Version {
	w.mu.Lock()
	history := slices.Clone(w.seen[namespace])
	w.mu.Unlock()
	slices.SortStableFunc(history, func(a, b Version) int { return cmp.Compare(revision(a), revision(b)) })
	return history
}

// Changed gives a channel that is closed when the next version is seen in a namespace, and when the
// last one was.
func (w *Witness) Changed(namespace string) (<-chan struct{}, time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[namespace] == nil {
		w.waiting[namespace] = make(chan struct{})
	}
	return w.waiting[namespace], w.latest[namespace]
}

// Forget drops what was seen in a namespace, which a long run has no memory for.
func (w *Witness) Forget(namespace string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.seen, namespace)
	delete(w.latest, namespace)
}

func revision(version Version) uint64 {
	revision, err := strconv.ParseUint(version.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0 // the API promises numbers; sorted first, a stranger is at least seen
	}
	return revision
}
