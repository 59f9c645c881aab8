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

// ObjectVersion is one version of an object.
type ObjectVersion struct {
	*unstructured.Unstructured
	Deleted bool      // true for the final version, which is recorded when the object is deleted
	Time    time.Time // when the version was recorded
}

// History holds every version of the watched objects, so that a test can check intermediate states.
type History struct {
	kinds []schema.GroupVersionKind

	mu      sync.Mutex
	all     string                     // if set, record all versions under this namespace
	seen    map[string][]ObjectVersion // by namespace
	waiting map[string]chan struct{}   // by namespace; closed and removed when a version is recorded
	dropped sets.Set[string]           // namespaces
}

// NewHistory returns a History that watches the given kinds until ctx is done. It watches all namespaces if namespace
// is empty. The History already contains the existing objects when NewHistory returns.
func NewHistory(ctx context.Context, reader client.WithWatch, namespace string, kinds ...schema.GroupVersionKind) (*History, error) {
	h := &History{kinds: kinds, seen: map[string][]ObjectVersion{}, waiting: map[string]chan struct{}{}, dropped: sets.New[string]()}
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

// Watches reports whether the History watches all of the given kinds.
func (h *History) Watches(kinds ...schema.GroupVersionKind) bool {
	return !slices.ContainsFunc(kinds, func(kind schema.GroupVersionKind) bool { return !slices.Contains(h.kinds, kind) })
}

// rewatch is the backoff after a watch breaks. It is much shorter than the reflector default, which can reach a minute,
// because tests wait for these watches.
var rewatch = utilwait.Backoff{Duration: 50 * time.Millisecond, Factor: 2, Steps: 5, Cap: 500 * time.Millisecond}

func (h *History) watch(ctx context.Context, reader client.WithWatch, namespace string, kind schema.GroupVersionKind) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err := reader.List(ctx, list, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return err // a reflector would retry forever
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
	silent := logr.Discard() // a broken watch is expected, and the reflector restarts it
	options := cache.ReflectorOptions{Logger: &silent, Backoff: &rewatch}
	go cache.NewReflectorWithOptions(source, object, s, options).RunWithContext(ctx)
	select {
	case <-s.listed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type reflectorStore struct {
	*History
	kind   schema.GroupVersionKind
	listed chan struct{} // closed after the initial list
	once   sync.Once
}

func (s *reflectorStore) Add(object any) error    { return s.store(object, false) }
func (s *reflectorStore) Update(object any) error { return s.store(object, false) }
func (s *reflectorStore) Delete(object any) error { return s.store(object, true) }
func (s *reflectorStore) Resync() error           { return nil }

// Replace records the initial list, or a new list after a watch has expired. Versions written before the new list are
// lost if the expired watch did not deliver them.
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

// Known returns the latest recorded version of every object that has not been deleted.
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

// RecordAllFor assigns all subsequent versions to the given namespace, even if the object is cluster-scoped or in
// another namespace. Use it when a test has the cluster to itself. An empty namespace restores the default.
func (h *History) RecordAllFor(namespace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = namespace
}

// Record adds a version to the History. It ignores the operator's own Pod (see IsOwnPod).
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
	for _, key := range []string{namespace, metav1.NamespaceAll} {
		if waiting := h.waiting[key]; waiting != nil {
			close(waiting)
			delete(h.waiting, key)
		}
	}
}

// Versions returns the versions in a namespace, sorted by resourceVersion.
func (h *History) Versions(namespace string) []ObjectVersion {
	h.mu.Lock()
	history := slices.Clone(h.seen[namespace])
	h.mu.Unlock()
	sortByRevision(history)
	return history
}

func sortByRevision(history []ObjectVersion) {
	slices.SortStableFunc(history, func(a, b ObjectVersion) int {
		return cmp.Compare(Revision(a.GetResourceVersion()), Revision(b.GetResourceVersion()))
	})
}

// Changed returns a channel that is closed when the next version is recorded in the namespace, and the time of the
// latest version there. If namespace is empty, a version in any namespace closes the channel.
func (h *History) Changed(namespace string) (<-chan struct{}, time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waiting[namespace] == nil {
		h.waiting[namespace] = make(chan struct{})
	}
	var last time.Time
	if all := h.seen[namespace]; len(all) > 0 {
		last = all[len(all)-1].Time
	}
	return h.waiting[namespace], last
}

// WaitFor calls wait.For, which repeats the check whenever an object in the namespace changes.
func (h *History) WaitFor(ctx context.Context, namespace string, timeout time.Duration, check func(context.Context) error) error {
	changed := func() <-chan struct{} {
		next, _ := h.Changed(namespace)
		return next
	}
	return wait.For(ctx, timeout, changed, check)
}

// Drop removes the versions of a namespace and ignores all later ones, to limit the memory use of long runs.
func (h *History) Drop(namespace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dropped.Insert(namespace)
	delete(h.seen, namespace)
}

// KeepLatest keeps only the latest version of each existing object, and records it under the given namespace.
func (h *History) KeepLatest(namespace string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var kept []ObjectVersion
	for _, object := range latestOf(slices.Concat(slices.Collect(maps.Values(h.seen))...)) {
		kept = append(kept, ObjectVersion{Unstructured: &object})
	}
	h.seen = map[string][]ObjectVersion{namespace: kept}
}

// Revision returns a resourceVersion as a number. It returns 0 if the resourceVersion is not a number.
func Revision(resourceVersion string) uint64 {
	revision, _ := strconv.ParseUint(resourceVersion, 10, 64) // 0 on error
	return revision
}

// WaitStable waits until nothing in the namespace has changed for the whole window. The window starts no earlier than
// the call, because the watches may not have delivered earlier changes yet. Writes that do not change the
// resourceVersion are ignored; use Recorder.WaitIdle to detect them.
func (h *History) WaitStable(ctx context.Context, namespace string, window time.Duration) error {
	err := waitQuiet(ctx, window, func() time.Time {
		_, last := h.Changed(namespace)
		return last
	})
	if err == nil {
		return nil
	}
	latest := "nothing"
	if versions := h.Versions(namespace); len(versions) > 0 {
		latest = versions[len(versions)-1].GetKind() + " " + versions[len(versions)-1].GetName()
	}
	return fmt.Errorf("namespace %s changed within %s, most recently %s: %w", namespace, window, latest, err)
}

// Objects returns the latest version of each existing object in a namespace.
func (h *History) Objects(namespace string) []unstructured.Unstructured {
	return latestOf(h.Versions(namespace))
}

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
