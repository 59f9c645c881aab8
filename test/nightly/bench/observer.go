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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/operator/controller"
)

// observer watches the Memcacheds and their Deployments and Pods.
type observer struct {
	mu        sync.Mutex
	changed   chan struct{} // receives a value after a change
	replicas  int           // the number of Pods that a resource must have to be ready
	resources map[types.NamespacedName]*resource
	ready     sets.Set[types.NamespacedName] // the resources whose Pods are ready
	correct   sets.Set[types.NamespacedName] // the ready resources whose status is also correct
	// onReady is called when the Pods of a resource have become ready. It must not block.
	onReady func(key types.NamespacedName, generation int64, pods []string)
}

type resource struct {
	memcachedv1alpha1.Memcached
	deployment types.UID
	since      time.Time       // when the Deployment was created
	pods       map[string]bool // by name, whether an active Pod is Ready
}

func (r *resource) names() []string { return slices.Sorted(maps.Keys(r.pods)) }

func newObserver() *observer {
	return &observer{changed: make(chan struct{}, 1), replicas: 1, resources: map[types.NamespacedName]*resource{},
		ready: sets.New[types.NamespacedName](), correct: sets.New[types.NamespacedName]()}
}

// start starts the observer, which runs until ctx is done. It uses informers, because the API server ends a watch whose
// buffer is full, and an informer then starts a new one.
func (o *observer) start(ctx context.Context, config *rest.Config) error {
	informers, err := cache.New(config, cache.Options{Scheme: controller.Scheme()})
	if err != nil {
		return err
	}
	deployment := &metav1.PartialObjectMetadata{}
	deployment.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	for _, object := range []client.Object{&memcachedv1alpha1.Memcached{}, deployment, &corev1.Pod{}} {
		informer, err := informers.GetInformer(ctx, object)
		if err != nil {
			return fmt.Errorf("cannot watch %T: %w", object, err)
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { o.onChange(object, true) },
			UpdateFunc: func(_, object any) { o.onChange(object, true) },
			DeleteFunc: func(object any) { o.onChange(object, false) },
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

// onChange records an event. exists is false if the object was deleted.
func (o *observer) onChange(object any, exists bool) {
	if missed, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = missed.Obj
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch object := object.(type) {
	case *memcachedv1alpha1.Memcached:
		o.change(client.ObjectKeyFromObject(object), func(r *resource) { r.Memcached = *object })
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
	select {
	case o.changed <- struct{}{}:
	default: // await has not read the previous change yet
	}
}

func (o *observer) change(key types.NamespacedName, change func(*resource)) {
	if o.resources[key] == nil {
		o.resources[key] = &resource{pods: map[string]bool{}}
	}
	change(o.resources[key])
	o.evaluate(key)
}

func (o *observer) evaluate(key types.NamespacedName) {
	r, status, wasReady := o.resources[key], o.resources[key].Status, o.ready.Has(key)
	o.ready.Delete(key)
	o.correct.Delete(key)
	if int(r.Spec.Size) != o.replicas || len(r.pods) != o.replicas || slices.Contains(slices.Collect(maps.Values(r.pods)), false) {
		return
	}
	o.ready.Insert(key)
	if status.ObservedGeneration == r.Generation && int(status.Replicas) == o.replicas && int(status.ReadyReplicas) == o.replicas &&
		slices.Equal(status.Nodes, r.names()) && meta.IsStatusConditionTrue(status.Conditions, workload.Available) {
		o.correct.Insert(key)
	}
	if o.onReady != nil && !wasReady {
		o.onReady(key, r.Generation, r.names())
	}
}

func (o *observer) expect(replicas int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.replicas = replicas
	for key := range o.resources {
		o.evaluate(key)
	}
}

// await waits until condition returns true. It calls condition with the mutex locked.
func (o *observer) await(ctx context.Context, what string, condition func() bool) error {
	for {
		o.mu.Lock()
		done, ready, correct := condition(), len(o.ready), len(o.correct)
		o.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-o.changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w: the Pods of %d resources are ready, the status of %d is correct", what, context.Cause(ctx), ready, correct)
		}
	}
}
