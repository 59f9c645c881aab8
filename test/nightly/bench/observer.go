package bench

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
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

// observer watches the resources of a kind and their Deployments, ReplicaSets and Pods. It records when conditions
// become true.
type observer struct {
	kind kind
	mu   sync.Mutex
	// replicas is the expected number of Pods of each resource.
	replicas  int64
	resources map[types.NamespacedName]*resourceState
	// ready and right are the numbers of measured resources with ready Pods and with the right status.
	ready, right int
	onReady      func(types.NamespacedName) // may be nil
	waiters      []*waiter
	curve        *curve // may be nil
}

// waiter waits for a condition. The condition is evaluated after each event, while the observer is locked.
type waiter struct {
	condition func() bool
	at        time.Time
	met       chan struct{}
}

// observe starts an observer. It runs until ctx ends.
func observe(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, k kind) (*observer, error) {
	o := &observer{kind: k, replicas: 1, resources: map[types.NamespacedName]*resourceState{}}
	views, err := cache.New(config, cache.Options{Scheme: scheme, DefaultTransform: stripUnused})
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- views.Start(ctx) }()
	for _, watched := range []struct {
		object client.Object
		see    func(client.Object, bool)
	}{
		{k.empty(types.NamespacedName{}), o.onResource},
		{metadataOf("Deployment"), o.onDeployment},
		{metadataOf("ReplicaSet"), o.onReplicaSet},
		{&corev1.Pod{}, o.onPod},
	} {
		informer, err := views.GetInformer(ctx, watched.object)
		if err != nil {
			return nil, fmt.Errorf("cannot watch %T: %w", watched.object, err)
		}
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { watched.see(object.(client.Object), true) },
			UpdateFunc: func(_, object any) { watched.see(object.(client.Object), true) },
			DeleteFunc: func(object any) {
				if last, unseen := object.(toolscache.DeletedFinalStateUnknown); unseen {
					object = last.Obj
				}
				watched.see(object.(client.Object), false)
			},
		})
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

func metadataOf(kind string) client.Object {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(kind))
	return object
}

// stripUnused removes unused fields from the cached objects to save memory.
func stripUnused(object any) (any, error) {
	if o, ok := object.(client.Object); ok {
		o.SetManagedFields(nil)
		o.SetAnnotations(nil)
	}
	if p, ok := object.(*corev1.Pod); ok {
		p.Spec, p.Status.ContainerStatuses = corev1.PodSpec{}, nil
	}
	return object, nil
}

// when returns a waiter for a condition. The condition may read the observer's fields.
func (o *observer) when(condition func() bool) *waiter {
	w := &waiter{condition: condition, met: make(chan struct{})}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiters = append(o.waiters, w)
	o.notify(time.Now())
	return w
}

// await waits for a condition and returns the time at which it became true.
func (o *observer) await(ctx context.Context, what string, w *waiter) (time.Time, error) {
	select {
	case <-w.met:
		return w.at, nil
	case <-ctx.Done():
		o.mu.Lock()
		defer o.mu.Unlock()
		return time.Time{}, fmt.Errorf("waiting until %s: %w: the Pods of %d resources are ready, the status of %d is right",
			what, context.Cause(ctx), o.ready, o.right)
	}
}

// notify wakes the waiters whose condition is true. The caller must hold the lock.
func (o *observer) notify(now time.Time) {
	var left []*waiter
	for _, w := range o.waiters {
		if !w.condition() {
			left = append(left, w)
			continue
		}
		w.at = now
		close(w.met)
	}
	o.waiters = left
}

// change updates the state of a resource and evaluates it.
func (o *observer) change(key types.NamespacedName, change func(*resourceState)) {
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.resources[key]
	if s == nil {
		s = newResourceState()
		o.resources[key] = s
	}
	change(s)
	o.evaluate(key, s)
	o.notify(now)
}

func (o *observer) evaluate(key types.NamespacedName, s *resourceState) {
	before := *s
	s.ready, s.right = s.podsReady(o.replicas), s.statusRight(o.replicas)
	if o.onReady != nil && s.ready && !before.ready {
		o.onReady(key)
	}
	if strings.HasPrefix(key.Namespace, measured) {
		o.ready += toInt(s.ready) - toInt(before.ready)
		o.right += toInt(s.right) - toInt(before.right)
		if o.curve != nil {
			o.curve.note(o.ready, o.right)
		}
	}
}

func toInt(is bool) int {
	if is {
		return 1
	}
	return 0
}

// notifyReady registers a function that is called when the Pods of a resource have become ready. The function must
// not block.
func (o *observer) notifyReady(f func(types.NamespacedName)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.onReady = f
}

// expect sets the expected number of Pods of each resource.
func (o *observer) expect(replicas int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.replicas = replicas
	for key, s := range o.resources {
		o.evaluate(key, s)
	}
}

// stateOf returns the state of a resource, for use in conditions, and the UID of its current Deployment.
func (o *observer) stateOf(key types.NamespacedName) (s *resourceState, deployment types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s = o.resources[key]
	return s, s.deployment
}

// observed returns the names of a resource's Pods, and its generation.
func (o *observer) observed(key types.NamespacedName) (nodes []string, generation int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.resources[key]
	nodes, _ = s.nodes()
	return nodes, s.generation
}

func (o *observer) onResource(object client.Object, there bool) {
	o.change(client.ObjectKeyFromObject(object), func(s *resourceState) {
		s.generation, s.replicas, s.status = 0, 0, workload.Status{}
		if !there {
			return
		}
		content := object.(*unstructured.Unstructured).Object
		s.generation = object.GetGeneration()
		s.replicas, _, _ = unstructured.NestedInt64(content, "spec", o.kind.replicas)
		if status, found, _ := unstructured.NestedMap(content, "status"); found {
			// cannot fail because of the CRD's schema
			_ = runtime.DefaultUnstructuredConverter.FromUnstructured(status, &s.status)
		}
	})
}

func (o *observer) onDeployment(object client.Object, there bool) {
	o.change(client.ObjectKeyFromObject(object), func(s *resourceState) {
		switch {
		case there:
			s.deployment = object.GetUID()
		case s.deployment == object.GetUID():
			s.deployment = ""
		}
	})
}

func (o *observer) onReplicaSet(object client.Object, there bool) {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return
	}
	o.change(types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name}, func(s *resourceState) {
		if there {
			s.replicaSets[object.GetUID()] = owner.UID
		} else {
			delete(s.replicaSets, object.GetUID())
		}
	})
}

// onPod derives the name of the Deployment from that of the ReplicaSet by removing the hash.
func (o *observer) onPod(object client.Object, there bool) {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return
	}
	name := owner.Name[:max(0, strings.LastIndex(owner.Name, "-"))]
	o.change(types.NamespacedName{Namespace: object.GetNamespace(), Name: name}, func(s *resourceState) {
		if there {
			s.pods[object.GetName()] = podOf(object.(*corev1.Pod), owner.UID)
		} else {
			delete(s.pods, object.GetName())
		}
	})
}
