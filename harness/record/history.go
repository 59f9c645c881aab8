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
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	utilwait "k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/wait"
)

// ObjectVersion is a version of an object that a watch delivered.
type ObjectVersion struct {
	*unstructured.Unstructured
	// Deleted marks the last version, with which the object was deleted.
	Deleted bool
	// Time is when it was recorded.
	Time time.Time
}

// History keeps every version of objects that its watches delivered, so that a test can judge what was true at every
// moment, not only in the end.
type History struct {
	kinds []schema.GroupVersionKind

	mu      sync.Mutex
	all     string                     // the namespace that all versions are recorded for; empty: each for its own
	seen    map[string][]ObjectVersion // by namespace
	latest  map[string]time.Time       // when the last of them was recorded
	waiting map[string]chan struct{}   // closed and removed when one is recorded
	dropped sets.Set[string]           // namespaces
}

// NewHistory watches the kinds in a namespace, or in all if it is empty, until ctx ends. It begins with the objects
// that exist, at their current version.
func NewHistory(ctx context.Context, reader client.WithWatch, namespace string, kinds ...schema.GroupVersionKind) (*History, error) {
	h := &History{kinds: kinds, seen: map[string][]ObjectVersion{}, latest: map[string]time.Time{}, waiting: map[string]chan struct{}{}, dropped: sets.New[string]()}
	var starting errgroup.Group
	for _, kind := range kinds {
		starting.Go(func() error {
			if err := h.watch(ctx, reader, namespace, kind); err != nil {
				return fmt.Errorf("cannot watch %s: %w", kind.Kind, err)
			}
			return nil
		})
	}
	if err := starting.Wait(); err != nil {
		return nil, err
	}
	return h, nil
}

// Watches tells whether all of the kinds are watched.
func (h *History) Watches(kinds ...schema.GroupVersionKind) bool {
	return !slices.ContainsFunc(kinds, func(kind schema.GroupVersionKind) bool { return !slices.Contains(h.kinds, kind) })
}

// rewatch is how often a broken watch is tried again. The default of up to a minute is for clusters with many clients,
// and a test waits for what a watch delivers.
var rewatch = utilwait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Steps: 5, Cap: 500 * time.Millisecond}

// watch watches a kind, and returns when the existing objects are recorded.
func (h *History) watch(ctx context.Context, reader client.WithWatch, namespace string, kind schema.GroupVersionKind) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := reader.List(ctx, list, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return err // a reflector would retry
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
	s := &reflectorStore{History: h, kind: kind, listed: make(chan struct{})}
	silent := logr.Discard() // a reflector restarts a broken watch by itself
	options := cache.ReflectorOptions{Logger: &silent, Backoff: &rewatch}
	go cache.NewReflectorWithOptions(source, object, s, options).RunWithContext(ctx)
	select {
	case <-s.listed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// reflectorStore records what the reflector of a kind delivers.
type reflectorStore struct {
	*History
	kind   schema.GroupVersionKind
	listed chan struct{} // closed when the existing objects are recorded
	once   sync.Once
}

func (s *reflectorStore) Add(object any) error    { return s.store(object, false) }
func (s *reflectorStore) Update(object any) error { return s.store(object, false) }
func (s *reflectorStore) Delete(object any) error { return s.store(object, true) }
func (s *reflectorStore) Resync() error           { return nil }

// Replace receives all objects that exist: at the start, and whenever a watch expired. Versions in between were not
// delivered to anybody.
func (s *reflectorStore) Replace(objects []any, _ string) error {
	known := s.Known()
	maps.DeleteFunc(known, func(_ types.UID, object *unstructured.Unstructured) bool { return object.GroupVersionKind() != s.kind })
	for _, object := range objects {
		object := object.(*unstructured.Unstructured)
		if was := known[object.GetUID()]; was == nil || was.GetResourceVersion() != object.GetResourceVersion() {
			s.Record(ObjectVersion{Unstructured: object})
		}
		delete(known, object.GetUID())
	}
	for _, gone := range known {
		s.Record(ObjectVersion{Unstructured: gone, Deleted: true})
	}
	s.once.Do(func() { close(s.listed) })
	return nil
}

func (s *reflectorStore) store(object any, deleted bool) error {
	s.Record(ObjectVersion{Unstructured: object.(*unstructured.Unstructured), Deleted: deleted})
	return nil
}

// Known returns the objects that exist as far as the history knows, each in the latest version that was recorded.
func (h *History) Known() map[types.UID]*unstructured.Unstructured {
	h.mu.Lock()
	all := slices.Concat(slices.Collect(maps.Values(h.seen))...)
	h.mu.Unlock()
	living := map[types.UID]*unstructured.Unstructured{}
	for _, object := range latestOf(all) {
		living[object.GetUID()] = &object
	}
	return living
}

// RecordAllFor has what is recorded from now on be of one namespace, whatever its own and even if it has none; the empty
// one ends that. It is for a cluster of which one test has all.
func (h *History) RecordAllFor(namespace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = namespace
}

// Record adds a version to the history, unless it is of an operator's own Pod. The watches call it, and so do tests without
// a cluster.
func (h *History) Record(version ObjectVersion) {
	if version.GetKind() == "Pod" && IsOwnPod(version.GetName()) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	namespace := cmp.Or(h.all, version.GetNamespace())
	if h.dropped.Has(namespace) {
		return
	}
	version.Time = time.Now()
	h.seen[namespace] = append(h.seen[namespace], version)
	h.latest[namespace] = version.Time
	for _, key := range []string{namespace, metav1.NamespaceAll} {
		if waiting := h.waiting[key]; waiting != nil {
			close(waiting)
			delete(h.waiting, key)
		}
	}
}

// Versions returns the versions of a namespace's objects in the order in which they were written: resourceVersions
// count the writes of the whole cluster.
func (h *History) Versions(namespace string) []ObjectVersion {
	h.mu.Lock()
	history := slices.Clone(h.seen[namespace])
	h.mu.Unlock()
	sortByRevision(history)
	return history
}

func sortByRevision(history []ObjectVersion) {
	slices.SortStableFunc(history, func(a, b ObjectVersion) int { return cmp.Compare(revision(a), revision(b)) })
}

// Changed returns a channel that is closed when the next version is recorded in a namespace, or in any if namespace
// is empty, and the time of the last one in that namespace.
func (h *History) Changed(namespace string) (<-chan struct{}, time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiting[namespace] == nil {
		h.waiting[namespace] = make(chan struct{})
	}
	return h.waiting[namespace], h.latest[namespace]
}

// WaitFor waits until check returns nil, as wait.For does, and runs it again whenever a version is recorded in a
// namespace, or in any if namespace is empty.
func (h *History) WaitFor(ctx context.Context, namespace string, timeout time.Duration, check func(context.Context) error) error {
	changed := func() <-chan struct{} {
		next, _ := h.Changed(namespace)
		return next
	}
	return wait.For(ctx, timeout, changed, check)
}

// Drop forgets the versions of a namespace, and records no more of it, to bound the memory of a long run.
func (h *History) Drop(namespace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dropped.Insert(namespace)
	delete(h.seen, namespace)
	delete(h.latest, namespace)
}

// KeepLatest forgets all versions but the latest of each object that exists, and keeps those as a namespace's.
func (h *History) KeepLatest(namespace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var kept []ObjectVersion
	for _, object := range latestOf(slices.Concat(slices.Collect(maps.Values(h.seen))...)) {
		kept = append(kept, ObjectVersion{Unstructured: &object})
	}
	h.seen, h.latest = map[string][]ObjectVersion{namespace: kept}, map[string]time.Time{}
}

func revision(version ObjectVersion) uint64 {
	revision, err := strconv.ParseUint(version.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0 // the API promises numbers; sorted first, the version is not lost
	}
	return revision
}

// WaitStable waits until nothing changes in a namespace for a whole window, which begins with the call: the watches
// may not have delivered earlier changes yet.
func (h *History) WaitStable(ctx context.Context, namespace string, window time.Duration) error {
	since := time.Now()
	for {
		changed, last := h.Changed(namespace)
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
			return fmt.Errorf("namespace %s changed within %s: %w", namespace, window, context.Cause(ctx))
		}
	}
}

// Objects returns the objects of a namespace in their latest version.
func (h *History) Objects(namespace string) []unstructured.Unstructured {
	return latestOf(h.Versions(namespace))
}

// latestOf returns the latest version of each object of a history that was not deleted.
func latestOf(history []ObjectVersion) []unstructured.Unstructured {
	sortByRevision(history)
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
