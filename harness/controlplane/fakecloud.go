package controlplane

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// bindClaim marks a claim as Bound, and sets its volume name if it has none. It creates no PersistentVolume.
func (n *fakeNodes) bindClaim(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	bound := &corev1.PersistentVolumeClaim{}
	err := n.cache.Get(ctx, request.NamespacedName, bound)
	if err != nil || bound.Status.Phase == corev1.ClaimBound || bound.DeletionTimestamp != nil {
		return reconcile.Result{}, err
	}
	claims := n.clientset.CoreV1().PersistentVolumeClaims(request.Namespace)
	if bound.Spec.VolumeName == "" {
		bound.Spec.VolumeName = fmt.Sprintf("pvc-%s", bound.UID)
		if bound, err = claims.Update(ctx, bound, metav1.UpdateOptions{}); err != nil {
			return reconcile.Result{}, err
		}
	}
	bound.Status.Phase = corev1.ClaimBound
	bound.Status.AccessModes = bound.Spec.AccessModes
	bound.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: bound.Spec.Resources.Requests[corev1.ResourceStorage]}
	_, err = claims.UpdateStatus(ctx, bound, metav1.UpdateOptions{})
	return reconcile.Result{}, err
}

// assignAddress sets the IP of a Service of type LoadBalancer, as a cloud provider would.
func (n *fakeNodes) assignAddress(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	balanced := &corev1.Service{}
	err := n.cache.Get(ctx, request.NamespacedName, balanced)
	if err != nil || balanced.Spec.Type != corev1.ServiceTypeLoadBalancer || len(balanced.Status.LoadBalancer.Ingress) > 0 || balanced.DeletionTimestamp != nil {
		return reconcile.Result{}, err
	}
	number := n.addresses.Add(1)
	ip := fmt.Sprintf("198.18.%d.%d", number>>8&0xff, number&0xff) // from a block that is reserved for benchmarks
	balanced.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: ip}}
	_, err = n.clientset.CoreV1().Services(request.Namespace).UpdateStatus(ctx, balanced, metav1.UpdateOptions{})
	return reconcile.Result{}, err
}
