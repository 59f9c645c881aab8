package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/fault"
	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/test/scenarios"
)

const (
	resourcesPerKind = 100
	firstNodePort    = 30000 // of the first WebServer
	users            = 8     // goroutines that change resources
	changesPerFault  = 10
	// idleWindow is longer than the operator's usual delay before it reconciles a resource again.
	idleWindow = 1500 * time.Millisecond
	// roundTimeout allows for backoffs of up to 15s on a busy machine.
	roundTimeout = 3 * time.Minute
)

// image is never pulled, because the node is simulated.
const image = "example.com/image:1"

var (
	survivable = typesOf(fault.Errors, fault.Latency)
	crashing   = typesOf(fault.Crashes)
)

func typesOf(categories ...fault.Category) []fault.Type {
	return slices.DeleteFunc(slices.Clone(fault.Types()), func(of fault.Type) bool { return !slices.Contains(categories, of.Category()) })
}

type resource struct {
	schema.GroupVersionKind
	name     string
	replicas string
	// nodePort is fixed, because the API server could reassign an automatically allocated port to another Service once
	// the original Service is deleted. It is 0 for a Memcached.
	nodePort int
}

type change func(ctx context.Context, r resource) error

func (s *soak) object(r resource) *unstructured.Unstructured {
	spec := map[string]any{r.replicas: int64(1), "image": image}
	if r.nodePort != 0 {
		spec["nodePort"] = int64(r.nodePort)
	}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetGroupVersionKind(r.GroupVersionKind)
	object.SetNamespace(s.namespace)
	object.SetName(r.name)
	return object
}

func (s *soak) create(t *testing.T) {
	t.Helper()
	for i := range resourcesPerKind {
		s.resources = append(s.resources,
			resource{webserverv1.GroupVersion.WithKind("WebServer"), fmt.Sprintf("web-%d", i), "replicas", firstNodePort + i},
			resource{memcachedv1alpha1.GroupVersion.WithKind("Memcached"), fmt.Sprintf("cache-%d", i), "size", 0})
	}
	s.round(t, func(ctx context.Context, r resource) error { return s.plane.Client.Create(ctx, s.object(r)) }, nil)
}

func (s *soak) scaleTo(pods int) change {
	return func(ctx context.Context, r resource) error {
		return s.patch(ctx, s.object(r), fmt.Sprintf(`{"spec":{"%s":%d}}`, r.replicas, pods))
	}
}

func (s *soak) toSample(ctx context.Context, r resource) error {
	return s.patch(ctx, s.object(r), fmt.Sprintf(`{"spec":{"%s":1,"image":"%s"}}`, r.replicas, image))
}

// randomChange makes a random change. It uses no seed, because concurrent writes make the test nondeterministic anyway.
func (s *soak) randomChange(ctx context.Context, r resource) error {
	child := metav1.ObjectMeta{Namespace: s.namespace, Name: r.name}
	switch rand.N(6) {
	case 0:
		return s.scaleTo(rand.N(4))(ctx, r)
	case 1:
		return s.patch(ctx, s.object(r), fmt.Sprintf(`{"spec":{"image":"example.com/%s:%d"}}`, r.name, rand.N(100)))
	case 2:
		return client.IgnoreNotFound(s.plane.Client.Delete(ctx, &appsv1.Deployment{ObjectMeta: child}))
	case 3: // no effect on a Memcached, which has no Service
		child.Name += "-service"
		return client.IgnoreNotFound(s.plane.Client.Delete(ctx, &corev1.Service{ObjectMeta: child}))
	case 4:
		return client.IgnoreNotFound(s.patch(ctx, &appsv1.Deployment{ObjectMeta: child}, `{"spec":{"replicas":7}}`))
	default:
		object := s.object(r)
		if err := s.plane.Client.Delete(ctx, object); err != nil {
			return err
		}
		return s.plane.Client.Create(ctx, s.object(r))
	}
}

func (s *soak) patch(ctx context.Context, object client.Object, patch string) error {
	return s.plane.Client.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)))
}

// round calls a function for every resource in random order, and injects the given faults at the same time. It then
// waits until the operator is idle and every resource is ready.
func (s *soak) round(t *testing.T, do change, faults []fault.Type) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), roundTimeout, fmt.Errorf("round timed out after %s", roundTimeout))
	defer cancel()
	var changing sync.WaitGroup
	errs := make([]error, len(s.resources))
	todo := make(chan int)
	for range users {
		changing.Go(func() {
			for i := range todo {
				errs[i] = do(ctx, s.resources[i])
			}
		})
	}
	for nth, i := range rand.Perm(len(s.resources)) {
		if len(faults) > 0 && nth%changesPerFault == 0 {
			s.injector.SetFault(s.anyFault(faults, s.resources[i].name))
		}
		todo <- i
	}
	close(todo)
	changing.Wait()
	s.changes += len(s.resources)
	s.injector.SetFault(fault.Fault{})
	noError(t, errors.Join(errs...))
	s.waitDone(ctx, t)
}

// anyFault returns a random fault. Unless it is a latency fault, it targets a write that the operator has previously
// sent for the resource, and affects the next such write.
func (s *soak) anyFault(among []fault.Type, name string) fault.Fault {
	chosen := fault.Fault{Type: among[rand.N(len(among))]}
	if chosen.Category() == fault.Latency {
		return chosen
	}
	counts := s.injector.Journal.RequestCounts()
	maps.DeleteFunc(counts, func(key fault.RequestKey, _ int) bool {
		return key.Name != name || key.Verb != "apply" && key.Verb != "update"
	})
	keys := slices.Collect(maps.Keys(counts))
	chosen.At = keys[rand.N(len(keys))] // not empty, because the operator has created the children of all resources
	chosen.At.Nth = 1
	return chosen
}

func (s *soak) waitDone(ctx context.Context, t *testing.T) {
	t.Helper()
	incomplete := func(context.Context) error {
		var errs []error
		for _, object := range s.history.Objects(s.namespace) {
			if group := object.GroupVersionKind().Group; group == webserverv1.GroupVersion.Group || group == memcachedv1alpha1.GroupVersion.Group {
				errs = append(errs, isComplete(object))
			}
		}
		return errors.Join(errs...)
	}
	for {
		noError(t, s.injector.WaitIdle(ctx, s.history, idleWindow))
		if incomplete(ctx) == nil {
			break
		}
		noError(t, s.history.WaitFor(ctx, s.namespace, roundTimeout, incomplete))
	}
	s.history.KeepLatest(s.namespace)
}

func isComplete(object unstructured.Unstructured) error {
	r, err := scenarios.Observe(&object)
	if err != nil {
		return err
	}
	degraded := meta.FindStatusCondition(r.Conditions, workload.Degraded)
	if degraded != nil && degraded.Status == metav1.ConditionTrue && !strings.Contains(degraded.Message, scenarios.PortIsAllocated) {
		return fmt.Errorf("%s %s: %s: %s", r.GetKind(), r.GetName(), degraded.Reason, degraded.Message)
	}
	if r.ObservedGeneration == r.GetGeneration() && r.ReadyReplicas == r.Desired() && r.Replicas == r.Desired() {
		return nil
	}
	return fmt.Errorf("%s %s: got %d of %d replicas, %d ready, observed generation %d of %d", r.GetKind(), r.GetName(),
		r.Replicas, r.Desired(), r.ReadyReplicas, r.ObservedGeneration, r.GetGeneration())
}

func (s *soak) deleteAll(t *testing.T) {
	t.Helper()
	for _, r := range s.resources {
		noError(t, s.plane.Client.Delete(t.Context(), s.object(r)))
	}
	err := s.history.WaitFor(t.Context(), s.namespace, roundTimeout, func(context.Context) error {
		for _, object := range s.history.Objects(s.namespace) {
			if object.GetNamespace() == s.namespace && slices.Contains([]string{"WebServer", "Memcached", "Deployment", "ReplicaSet", "Pod", "Service"}, object.GetKind()) {
				return fmt.Errorf("%s %s still exists", object.GetKind(), object.GetName())
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func (s *soak) killOperator() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill()
}
