package controller

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestAChildThatTheCacheDoesNotShowIsLookedForAgain creates a Service that does not come into the cache: it may be
// deleted before it does, which no watch reports.
func TestAChildThatTheCacheDoesNotShowIsLookedForAgain(t *testing.T) {
	fake := newFakeClient(t, storedWebServer())
	r := newFakeReconciler(interceptor.NewClient(fake, interceptor.Funcs{
		Get: func(ctx context.Context, fake client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, ok := object.(*corev1.Service); ok {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "services"}, key.Name)
			}
			return fake.Get(ctx, key, object, options...)
		},
	}))
	r.apiReader = fake
	result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(storedWebServer())})
	if err != nil {
		t.Fatal(err)
	}
	if result.IsZero() {
		t.Error("nobody looks again")
	}
}
