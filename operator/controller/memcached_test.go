package controller

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestMemcachedSize(t *testing.T) {
	cache := storedMemcached()
	fake, key := newFakeClient(t, cache), client.ObjectKeyFromObject(cache)
	r := newFakeReconciler(memcacheds, fake)
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{}
	if err := fake.Get(t.Context(), key, deployment); err != nil {
		t.Fatal(err)
	}
	if err := fake.Get(t.Context(), key, cache); err != nil {
		t.Fatal(err)
	}
	if *deployment.Spec.Replicas != 3 || cache.Status.ObservedGeneration != 1 {
		t.Errorf("it has %d Pods, and its status is %+v", *deployment.Spec.Replicas, cache.Status)
	}
}
