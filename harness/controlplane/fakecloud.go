package controlplane

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// bindClaim binds an unbound claim to a new volume name, as a provisioner and the volume controller would.
func (n *fakeNodes) bindClaim(ctx context.Context, name cache.ObjectName) error {
	cached, err := n.claims.PersistentVolumeClaims(name.Namespace).Get(name.Name)
	if err != nil || cached.Status.Phase == corev1.ClaimBound || cached.DeletionTimestamp != nil {
		return err
	}
	bound := cached.DeepCopy()
	claims := n.clientset.CoreV1().PersistentVolumeClaims(name.Namespace)
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

// assignAddress assigns an address to a load balancer, as a cloud provider would.
func (n *fakeNodes) assignAddress(ctx context.Context, name cache.ObjectName) error {
	cached, err := n.services.Services(name.Namespace).Get(name.Name)
	if err != nil || cached.Spec.Type != corev1.ServiceTypeLoadBalancer || len(cached.Status.LoadBalancer.Ingress) > 0 || cached.DeletionTimestamp != nil {
		return err
	}
	balanced := cached.DeepCopy()
	number := n.addresses.Add(1)
	ip := fmt.Sprintf("198.18.%d.%d", number>>8&0xff, number&0xff) // from a block that is reserved for benchmarks
	balanced.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: ip}}
	_, err = n.clientset.CoreV1().Services(name.Namespace).UpdateStatus(ctx, balanced, metav1.UpdateOptions{})
	return err
}
