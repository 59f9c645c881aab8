package controller

import (
	"context"
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

// settled is a reconciler of a WebServer that has nothing left to do.
func settled(t *testing.T, fake client.WithWatch) (*reconciler[*webserverv1.WebServer], ctrl.Request) {
	r := newFakeReconciler(fake)
	r.children = func(k resourceKind[*webserverv1.WebServer], ws *webserverv1.WebServer) children {
		c := webServerChildren(k, ws) // the fake client adds empty fields to a Deployment
		c.deployment.extract = func() (any, error) { return c.deployment.desired, nil }
		return c
	}
	request := ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "web"}}
	if _, err := r.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	assignUID(t, fake, deployment)
	deployment.Status.ObservedGeneration = deployment.Generation
	if err := fake.Status().Update(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-service"}}
	assignUID(t, fake, service)
	for range 3 {
		if _, err := r.Reconcile(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	return r, request
}

// A WebServer that names another node port must not be told as complete before its Service has it.
func TestAClaimThatMovesTheServiceIsNotComplete(t *testing.T) {
	fake := newFakeClient(t, storedWebServer())
	r, request := settled(t, fake)
	ws := getWebServer(t, fake)
	ws.Spec.NodePort, ws.Generation = 30999, 2
	if err := fake.Update(t.Context(), ws); err != nil {
		t.Fatal(err)
	}
	seen := false
	r.Client = client.WithFieldOwner(interceptor.NewClient(fake, interceptor.Funcs{
		Apply: func(ctx context.Context, c client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			seen = true
			now := getWebServer(t, fake)
			is := meta.FindStatusCondition(now.Status.Conditions, workload.Progressing)
			if is.Reason == workload.ReasonComplete && now.Status.ObservedGeneration == 2 {
				t.Errorf("before the Service is written: %+v", is)
			}
			return c.Apply(ctx, obj, opts...)
		}}), Name)
	if _, err := r.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if !seen {
		t.Error("no apply")
	}
	if is := meta.FindStatusCondition(getWebServer(t, fake).Status.Conditions, workload.Progressing); is.Reason != workload.ReasonComplete {
		t.Errorf("after the Service is written: %+v", is)
	}
}

// A Deployment that changed since it was read, as its status does all the time, is no refusal that a person must act on.
func TestAConflictOfAReplacementIsNoRefusal(t *testing.T) {
	fake := newFakeClient(t, storedWebServer())
	r, _ := settled(t, fake)
	ws := getWebServer(t, fake)
	children, err := r.readChildren(t.Context(), ws)
	if err != nil {
		t.Fatal(err)
	}
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, ws.Name, nil)
	conflict := apierrors.NewConflict(schema.GroupResource{Group: "apps", Resource: "deployments"}, ws.Name, errors.New("the object has been modified"))
	r.Client = client.WithFieldOwner(interceptor.NewClient(fake, interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return conflict
		},
	}), Name)
	err = r.replace(t.Context(), ws, children.deployment, reasonRepaired, invalid)
	if !apierrors.IsConflict(err) {
		t.Errorf("got %v, which is reported as %+v", err, r.classifyError(ws, children.deployment, err))
	}
}
