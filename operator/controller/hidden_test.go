package controller

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

// The Deployments and Services of these tests have lost this operator's label, so that the cache does not show them.

// TestPodsAreNotGoneWhileTheirDeploymentCannotBeRead: the Service is written meanwhile, and the status before that.
func TestPodsAreNotGoneWhileTheirDeploymentCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, completeObjects(t)...)
		work["a Pod that becomes ready"](t, server.fake)
		server.reconcileUntilIdle()
		server.hide("Deployment")
		server.apiReader = interceptor.NewClient(server.fake, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				if _, ok := object.(*appsv1.Deployment); ok {
					return errors.New("no answer")
				}
				return c.Get(ctx, key, object, options...)
			},
		})
		editChild(t, server.fake, &corev1.Service{}, "web-service", func(s *corev1.Service) { s.Spec.Selector = map[string]string{"app": "other"} })
		if _, err := server.reconcile(); err == nil {
			t.Error("nobody looks again")
		}
		if nodes := getWebServer(t, server.fake).Status.Nodes; len(nodes) != 1 {
			t.Errorf("reported are the Pods %q", nodes)
		}
		if count(server.requests, "apply web-service") == 0 {
			t.Error("the Service is not repaired")
		}
	})
}

// TestAHiddenDeploymentThatIsUpdatedIsNotComplete: its label is restored, and the watch does not show it yet.
func TestAHiddenDeploymentThatIsUpdatedIsNotComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, completeObjects(t)...)
		server.hide("Deployment")
		editWebServer(t, server.fake, func(ws *webserverv1.WebServer) { ws.Spec.Image = "nginx:1.99" })
		server.event()
		if server.reported(workload.Progressing) == workload.ReasonComplete {
			t.Error("it is complete")
		}
	})
}

// TestNobodyWaitsForTheCacheToForgetWhatItNeverHad deletes a Service that no informer has, so that none tells of its end.
func TestNobodyWaitsForTheCacheToForgetWhatItNeverHad(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Success","details":{"name":"web-service","uid":"hidden"}}`))
	}))
	defer server.Close()
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Service"), meta.RESTScopeNamespace)
	consistent, err := client.New(&rest.Config{Host: server.URL}, client.Options{Scheme: Scheme(), Mapper: mapper,
		Cache: &client.CacheOptions{Reader: &informertest.FakeInformers{Scheme: Scheme()}, EnableReadYourWritesConsistency: new(true)}})
	if err != nil {
		t.Fatal(err)
	}
	r, ws := newFakeReconciler(consistent), storedWebServer()
	hidden := r.children(r.resourceKind, ws).service
	hidden.object.SetUID("hidden")
	hidden.object.SetResourceVersion("7")
	_ = r.delete(t.Context(), ws, hidden)
	reading, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	begin := time.Now()
	if err := r.read(reading, client.ObjectKeyFromObject(hidden.object), &corev1.Service{}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took >= cacheReadTimeout {
		t.Errorf("it is waited for %s", took)
	}
}
