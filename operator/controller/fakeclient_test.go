package controller

import (
	"context"
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// newFakeClient returns an in-memory client that supports managed fields and the indexes of the cache.
func newFakeClient(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme() // register only the needed types, because each fake client maps all of them
	noError(t, errors.Join(appsv1.AddToScheme(scheme), corev1.AddToScheme(scheme), webserverv1.AddToScheme(scheme), memcachedv1alpha1.AddToScheme(scheme)))
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&webserverv1.WebServer{}, &memcachedv1alpha1.Memcached{}, &appsv1.Deployment{}).WithReturnManagedFields().
		WithInterceptorFuncs(interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			err := c.Patch(ctx, object, patch, options...)
			object.SetUID("child-uid") // the fake client does not assign UIDs
			return err
		}})
	return builder.WithIndex(&appsv1.ReplicaSet{}, controllerUID, byController).WithIndex(&corev1.Pod{}, controllerUID, byController).Build()
}

// newFakeReconciler returns a reconciler that uses the client for writes, cached reads and live reads.
func newFakeReconciler(k workloadKind, c client.Client) *reconciler {
	children := k.children
	k.children = func(k workloadKind, owner resource) []*child {
		all := children(k, owner)
		extract := all[0].extract
		all[0].extract = func(object client.Object) (any, error) {
			owned, err := extract(object)
			owned.(*appsv1ac.DeploymentApplyConfiguration).Status = nil // the fake client treats it as applied
			return owned, err
		}
		return all
	}
	return &reconciler{workloadKind: k, Client: client.WithFieldOwner(c, Name), live: c, events: &events.FakeRecorder{}}
}

func controllerReference(owner client.Object) []metav1.OwnerReference {
	return []metav1.OwnerReference{{Name: owner.GetName(), UID: owner.GetUID(), Controller: new(true)}}
}

func storedWebServer() *webserverv1.WebServer {
	return &webserverv1.WebServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "web-uid", Generation: 1},
		Spec:       webserverv1.WebServerSpec{Image: "nginx:1.23.1", Replicas: ptr.To[int32](0), Port: 80},
	}
}

func storedMemcached() *memcachedv1alpha1.Memcached {
	return &memcachedv1alpha1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cache", UID: "cache-uid", Generation: 1},
		Spec:       memcachedv1alpha1.MemcachedSpec{Size: 3, Image: "memcached:1.6"},
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
