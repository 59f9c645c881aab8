package controller

import (
	"context"
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// newFakeClient stores objects in memory, with what the operator needs of an API server: resource versions,
// managed fields, the status apart from the spec, and the cache's indexes.
func newFakeClient(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme() // of few types, since a fake client maps all of them each time it is made
	if err := errors.Join(appsv1.AddToScheme(scheme), corev1.AddToScheme(scheme), webserverv1.AddToScheme(scheme), memcachedv1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&webserverv1.WebServer{}, &memcachedv1alpha1.Memcached{}, &appsv1.Deployment{}).WithReturnManagedFields()
	if err := addIndexes(t.Context(), indexer{builder}); err != nil {
		t.Fatal(err)
	}
	return builder.Build()
}

// indexer gives a fake client the cache's indexes.
type indexer struct{ *fake.ClientBuilder }

func (i indexer) IndexField(_ context.Context, object client.Object, field string, extract client.IndexerFunc) error {
	i.WithIndex(object, field, extract)
	return nil
}

// assignUID gives an object that was made a UID and a generation, which the fake client does not.
func assignUID(t *testing.T, c client.Client, object client.Object) {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	object.SetUID(types.UID(object.GetName() + "-child-uid"))
	object.SetGeneration(1)
	if err := c.Update(t.Context(), object, client.FieldOwner("kube-apiserver")); err != nil {
		t.Fatal(err)
	}
}

// newFakeReconciler has one client for a cache and for an API server.
func newFakeReconciler(c client.Client) *reconciler[*webserverv1.WebServer] {
	return &reconciler[*webserverv1.WebServer]{
		resourceKind: webServers, Client: client.WithFieldOwner(c, Name), apiReader: c, events: &events.FakeRecorder{},
	}
}

// storedWebServer is a WebServer of no Pods, as it is stored.
func storedWebServer() *webserverv1.WebServer {
	return &webserverv1.WebServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "web-uid", Generation: 1},
		Spec:       webserverv1.WebServerSpec{Image: "nginx:1.23.1", Replicas: ptr.To[int32](0), Port: 80},
	}
}

func getWebServer(t *testing.T, reader client.Reader) *webserverv1.WebServer {
	t.Helper()
	ws := &webserverv1.WebServer{}
	if err := reader.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "web"}, ws); err != nil {
		t.Fatal(err)
	}
	return ws
}
