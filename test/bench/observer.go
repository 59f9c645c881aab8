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

// observer follows the resources of a kind, their Deployments, ReplicaSets and Pods by watches, and notes when a
// condition has come about.
type observer struct {
	kind kind
	mu   sync.Mutex
	// replicas is how many Pods each resource is to have.
	replicas  int64
	resources map[types.NamespacedName]*state
	// ready and right are how many measured resources have their Pods, and their status, as they should be.
	ready, right int
	// onReady is called, if there is one, when a resource's Pods have become ready; it must not block.
	onReady func(types.NamespacedName)
	waiters []*waiter
}

// waiter waits for a condition, which is looked at whenever anything has changed. The observer is locked then.
type waiter struct {
	condition func() bool
	at        time.Time
	met       chan struct{}
}

// observe follows the resources of a kind until ctx ends.
func observe(ctx context.Context, config *rest.Config, scheme *runtime.Scheme, k kind) (*observer, error) {
	o := &observer{kind: k, replicas: 1, resources: map[types.NamespacedName]*state{}}
	views, err := cache.New(config, cache.Options{Scheme: scheme, DefaultTransform: slim})
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- views.Start(ctx) }()
	for _, watched := range []struct {
		object client.Object
		see    func(client.Object, bool)
	}{
		{k.empty(types.NamespacedName{}), o.seeResource},
		{metadataOf("Deployment"), o.seeDeployment},
		{metadataOf("ReplicaSet"), o.seeReplicaSet},
		{&corev1.Pod{}, o.seePod},
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

// slim takes away what no figure needs, so that the bench's memory stays small.
func slim(object any) (any, error) {
	if o, ok := object.(client.Object); ok {
		o.SetManagedFields(nil)
		o.SetAnnotations(nil)
	}
	if p, ok := object.(*corev1.Pod); ok {
		p.Spec, p.Status.ContainerStatuses = corev1.PodSpec{}, nil
	}
	return object, nil
}

// when notes from now on when a condition comes about. It is called with the observer locked.
func (o *observer) when(condition func() bool) *waiter {
	w := &waiter{condition: condition, met: make(chan struct{})}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiters = append(o.waiters, w)
	o.look(time.Now())
	return w
}

// await returns when a condition has come about: the arrival of the event that made it true.
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

// look settles the waiters whose condition holds. The caller holds the lock.
func (o *observer) look(now time.Time) {
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

// change changes what is known of a resource, and draws the conclusions.
func (o *observer) change(key types.NamespacedName, change func(*state)) {
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.resources[key]
	if s == nil {
		s = newState()
		o.resources[key] = s
	}
	change(s)
	o.judge(key, s)
	o.look(now)
}

func (o *observer) judge(key types.NamespacedName, s *state) {
	before := *s
	s.ready, s.right = s.podsReady(o.replicas), s.statusRight(o.replicas)
	if o.onReady != nil && s.ready && !before.ready {
		o.onReady(key)
	}
	if strings.HasPrefix(key.Namespace, measured) {
		o.ready += one(s.ready) - one(before.ready)
		o.right += one(s.right) - one(before.right)
	}
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// expect says how many Pods each resource is to have from now on.
func (o *observer) expect(replicas int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.replicas = replicas
	for key, s := range o.resources {
		o.judge(key, s)
	}
}

// stateOf is what is known of a resource, for a condition to look at, and its Deployment as of now.
func (o *observer) stateOf(key types.NamespacedName) (s *state, deployment types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s = o.resources[key]
	return s, s.deployment
}

// known are the names of a resource's Pods, and its generation.
func (o *observer) known(key types.NamespacedName) (nodes []string, generation int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.resources[key]
	nodes, _ = s.nodes()
	return nodes, s.generation
}

func (o *observer) seeResource(object client.Object, there bool) {
	o.change(client.ObjectKeyFromObject(object), func(s *state) {
		s.generation, s.replicas, s.status = 0, 0, workload.Status{}
		if !there {
			return
		}
		content := object.(*unstructured.Unstructured).Object
		s.generation = object.GetGeneration()
		s.replicas, _, _ = unstructured.NestedInt64(content, "spec", o.kind.replicas)
		if status, found, _ := unstructured.NestedMap(content, "status"); found {
			// What the schema lets pass can be converted.
			_ = runtime.DefaultUnstructuredConverter.FromUnstructured(status, &s.status)
		}
	})
}

func (o *observer) seeDeployment(object client.Object, there bool) {
	o.change(client.ObjectKeyFromObject(object), func(s *state) {
		switch {
		case there:
			s.deployment = object.GetUID()
		case s.deployment == object.GetUID():
			s.deployment = ""
		}
	})
}

func (o *observer) seeReplicaSet(object client.Object, there bool) {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return
	}
	o.change(types.NamespacedName{Namespace: object.GetNamespace(), Name: owner.Name}, func(s *state) {
		if there {
			s.replicaSets[object.GetUID()] = owner.UID
		} else {
			delete(s.replicaSets, object.GetUID())
		}
	})
}

// seePod knows the Deployment's name from that of the ReplicaSet, which is it and a hash.
func (o *observer) seePod(object client.Object, there bool) {
	owner := metav1.GetControllerOf(object)
	if owner == nil {
		return
	}
	name := owner.Name[:max(0, strings.LastIndex(owner.Name, "-"))]
	o.change(types.NamespacedName{Namespace: object.GetNamespace(), Name: name}, func(s *state) {
		if there {
			s.pods[object.GetName()] = podOf(object.(*corev1.Pod), owner.UID)
		} else {
			delete(s.pods, object.GetName())
		}
	})
}
