package controller

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
)

func TestMemcachedSize(t *testing.T) {
	cache := &memcachedv1alpha1.Memcached{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cache", UID: "cache-uid", Generation: 1},
		Spec: memcachedv1alpha1.MemcachedSpec{Size: 3, Image: "memcached:1.6"}}
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
