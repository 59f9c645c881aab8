package controlplane

import (
	"context"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// fakeCloud simulates a cloud provider. It binds claims to volumes and assigns addresses to load balancers.
type fakeCloud struct {
	*controller[work]
	clientset kubernetes.Interface
	addresses atomic.Uint32 // the number of assigned addresses
}

type work struct {
	kind string
	name cache.ObjectName
}

const (
	claim   = "PersistentVolumeClaim"
	service = "Service"
)

// start watches claims and Services until stop is called. It can be called again after stop. ctx only limits the
// start.
func (c *fakeCloud) start(ctx context.Context) {
	c.controller = newController[work](c.clientset)
	core := c.informers.Core().V1()
	for kind, informer := range map[string]cache.SharedIndexInformer{
		claim:   core.PersistentVolumeClaims().Informer(),
		service: core.Services().Informer(),
	} {
		enqueue := func(object any) {
			if object, err := meta.Accessor(object); err == nil {
				c.queue.Add(work{kind, cache.MetaObjectToName(object)})
			}
		}
		_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) }}) // the informer has not been stopped
	}
	c.run(ctx, 1, c.sync)
}

func (c *fakeCloud) sync(ctx context.Context, item work) error {
	if item.kind == claim {
		return c.bindClaim(ctx, item.name)
	}
	return c.assignAddress(ctx, item.name)
}

// bindClaim binds an unbound claim to a new volume name, like a provisioner and the volume controller.
func (c *fakeCloud) bindClaim(ctx context.Context, name cache.ObjectName) error {
	cached, err := c.informers.Core().V1().PersistentVolumeClaims().Lister().PersistentVolumeClaims(name.Namespace).Get(name.Name)
	if err != nil || cached.Status.Phase == corev1.ClaimBound || cached.DeletionTimestamp != nil {
		return err
	}
	bound := cached.DeepCopy()
	claims := c.clientset.CoreV1().PersistentVolumeClaims(name.Namespace)
	if bound.Spec.VolumeName == "" {
		bound.Spec.VolumeName = fmt.Sprintf("pvc-%s", bound.UID)
		if bound, err = claims.Update(ctx, bound, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	bound.Status.Phase = corev1.ClaimBound
	bound.Status.AccessModes = bound.Spec.AccessModes
	bound.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: bound.Spec.Resources.Requests[corev1.ResourceStorage]}
	_, err = claims.UpdateStatus(ctx, bound, metav1.UpdateOptions{})
	return err
}

func (c *fakeCloud) assignAddress(ctx context.Context, name cache.ObjectName) error {
	cached, err := c.informers.Core().V1().Services().Lister().Services(name.Namespace).Get(name.Name)
	if err != nil || cached.Spec.Type != corev1.ServiceTypeLoadBalancer || len(cached.Status.LoadBalancer.Ingress) > 0 || cached.DeletionTimestamp != nil {
		return err
	}
	balanced := cached.DeepCopy()
	number := c.addresses.Add(1)
	ip := fmt.Sprintf("198.18.%d.%d", number>>8&0xff, number&0xff) // from a block that is reserved for benchmarks
	balanced.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: ip}}
	_, err = c.clientset.CoreV1().Services(name.Namespace).UpdateStatus(ctx, balanced, metav1.UpdateOptions{})
	return err
}
