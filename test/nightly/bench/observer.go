package bench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
)

// observer watches the resources of a kind and their Deployments and Pods.
type observer struct {
	kind      kind
	mu        sync.Mutex
	changed   *sync.Cond
	replicas  int64 // the number of Pods that a resource must have to be ready
	resources map[types.NamespacedName]*resource
	ready     map[types.NamespacedName]bool // the resources whose Pods are ready
	correct   map[types.NamespacedName]bool // the ready resources whose status is also correct
	// onReady is called when the Pods of a resource have become ready. It must not block.
	onReady func(key types.NamespacedName, generation int64, pods []string)
}

// resource is the observed state of a resource, its Deployment and its Pods.
type resource struct {
	generation int64
	replicas   int64 // the value in the spec
	status     workload.Status
	deployment types.UID
	since      time.Time       // when the Deployment was created
	pods       map[string]bool // by name, whether an active Pod is Ready
}

// evaluate reports whether the resource has the given number of Pods and all of them are ready, and whether its status
// is also correct.
func (r *resource) evaluate(replicas int64) (ready, correct bool) {
	ready = r.replicas == replicas && int64(len(r.pods)) == replicas && !slices.Contains(slices.Collect(maps.Values(r.pods)), false)
	return ready, ready && r.status.ObservedGeneration == r.generation &&
		int64(r.status.Replicas) == replicas && int64(r.status.ReadyReplicas) == replicas && slices.Equal(r.status.Nodes, r.names()) &&
		meta.IsStatusConditionTrue(r.status.Conditions, workload.Available)
}

func (r *resource) names() []string { return slices.Sorted(maps.Keys(r.pods)) }

func newObserver(k kind) *observer {
	o := &observer{kind: k, replicas: 1, resources: map[types.NamespacedName]*resource{},
		ready: map[types.NamespacedName]bool{}, correct: map[types.NamespacedName]bool{}}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// start starts the observer, which runs until ctx is done. It uses informers, because the API server ends a watch whose
// buffer is full, and an informer then starts a new one.
func (o *observer) start(ctx context.Context, config *rest.Config) error {
	context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.changed.Broadcast()
	})
	informers, err := cache.New(config, cache.Options{})
	if err != nil {
		return err
	}
	deployment := &metav1.PartialObjectMetadata{}
	deployment.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	for _, object := range []client.Object{o.kind.resource(types.NamespacedName{}), deployment, &corev1.Pod{}} {
		informer, err := informers.GetInformer(ctx, object)
		if err != nil {
			return fmt.Errorf("cannot watch %T: %w", object, err)
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { o.on(object, true) },
			UpdateFunc: func(_, object any) { o.on(object, true) },
			DeleteFunc: func(object any) { o.on(object, false) },
		}); err != nil {
			return err
		}
	}
	go func() { _ = informers.Start(ctx) }() // it returns nil when ctx ends
	if !informers.WaitForCacheSync(ctx) {
		return context.Cause(ctx)
	}
	return nil
}

// on records an event. exists is false if the object was deleted.
func (o *observer) on(object any, exists bool) {
	if missed, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = missed.Obj
	}
	switch object := object.(type) {
	case *unstructured.Unstructured:
		o.change(client.ObjectKeyFromObject(object), func(r *resource) {
			r.generation, r.status = object.GetGeneration(), workload.Status{}
			r.replicas, _, _ = unstructured.NestedInt64(object.Object, "spec", o.kind.replicas)
			status, _, _ := unstructured.NestedMap(object.Object, "status")
			_ = runtime.DefaultUnstructuredConverter.FromUnstructured(status, &r.status) // valid according to the CRD's schema
		})
	case *metav1.PartialObjectMetadata:
		o.change(client.ObjectKeyFromObject(object), func(r *resource) {
			if exists && r.deployment != object.UID {
				r.deployment, r.since = object.UID, time.Now()
			}
		})
	case *corev1.Pod:
		name := object.Name[:min(len(object.Name), len(resourceKeys(1)[0].Name))]
		o.change(types.NamespacedName{Namespace: object.Namespace, Name: name}, func(r *resource) {
			r.pods[object.Name] = slices.ContainsFunc(object.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
			})
			if !exists || object.DeletionTimestamp != nil || object.Status.Phase == corev1.PodFailed {
				delete(r.pods, object.Name)
			}
		})
	}
}

func (o *observer) change(key types.NamespacedName, change func(*resource)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.resources[key] == nil {
		o.resources[key] = &resource{pods: map[string]bool{}}
	}
	change(o.resources[key])
	o.evaluate(key)
	o.changed.Broadcast()
}

func (o *observer) evaluate(key types.NamespacedName) {
	r, wasReady := o.resources[key], o.ready[key]
	ready, correct := r.evaluate(o.replicas)
	for keys, contains := range map[*map[types.NamespacedName]bool]bool{&o.ready: ready, &o.correct: correct} {
		if delete(*keys, key); contains {
			(*keys)[key] = true
		}
	}
	if o.onReady != nil && ready && !wasReady {
		o.onReady(key, r.generation, r.names())
	}
}

func (o *observer) expect(replicas int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.replicas = replicas
	for key := range o.resources {
		o.evaluate(key)
	}
}

// await waits until a condition is true. The condition may read the observer's fields.
func (o *observer) await(ctx context.Context, what string, condition func() bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !condition() {
		if ctx.Err() != nil {
			return fmt.Errorf("waiting until %s: %w: the Pods of %d resources are ready, the status of %d is correct",
				what, context.Cause(ctx), len(o.ready), len(o.correct))
		}
		o.changed.Wait()
	}
	return nil
}
