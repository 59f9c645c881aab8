package controller

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// TestARepairIsOfTheVersionThatWasRead has somebody change a second field while the first is about to be repaired:
// the Event of the repair would not tell of it.
func TestARepairIsOfTheVersionThatWasRead(t *testing.T) {
	ctx, ws := t.Context(), storedWebServer()
	fake := newFakeClient(t, ws)
	r := newFakeReconciler(fake)
	if _, err := r.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(ws)}); err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{}
	deployment.Namespace, deployment.Name = ws.Namespace, ws.Name
	assignUID(t, fake, deployment)
	deployment.Spec.Replicas = ptr.To[int32](7)
	if err := fake.Update(ctx, deployment, client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	children, err := r.readChildren(ctx, getWebServer(t, fake))
	if err != nil {
		t.Fatal(err)
	}
	deployment.Spec.Template.Spec.Containers[0].Image = "tampered:1"
	if err := fake.Update(ctx, deployment, client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	if err := r.write(ctx, getWebServer(t, fake), children.deployment); !apierrors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	if tokens := r.memories.of(ws).repairsOf(children.deployment).Tokens(); tokens != repairBurst {
		t.Errorf("what was not written is counted: %v repairs are left", tokens)
	}
}

// TestARepairThatIsNotStoredIsNotCounted: of one that the API server refuses again and again, the status would tell in
// the end that somebody keeps changing the field.
func TestARepairThatIsNotStoredIsNotCounted(t *testing.T) {
	for name, answered := range map[string]error{
		"it is written, and a policy rewrites it": nil, // its hold bounds it
		"it is refused":   apierrors.NewInvalid(schema.GroupKind{}, "web-service", nil),
		"a webhook fails": apierrors.NewInternalError(errors.New("webhook")),
		"it is stale":     apierrors.NewConflict(schema.GroupResource{}, "web-service", nil),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := newFakeClient(t, settledObjects(t)...)
				r := newFakeReconciler(interceptor.NewClient(fake, interceptor.Funcs{
					Apply: refuseBy(answered),
					Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
						return answered
					},
				}))
				editChild(t, fake, &corev1.Service{}, "web-service", func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeClusterIP })
				ws := getWebServer(t, fake)
				children, err := r.readChildren(t.Context(), ws)
				if err != nil {
					t.Fatal(err)
				}
				left := r.memories.of(ws).repairsOf(children.service)
				if err := r.write(t.Context(), ws, children.service); err == nil {
					t.Error("nothing is in its way")
				}
				if left.Tokens() < repairBurst {
					t.Error("it is counted")
				}
			})
		})
	}
}

// TestASpecsNewNodePortIsNoRepairThatMayBeTooMany has somebody move the node port so often that it is left contested.
func TestASpecsNewNodePortIsNoRepairThatMayBeTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, settledObjects(t)...)
		editWebServer(t, server.fake, func(ws *webserverv1.WebServer) { ws.Spec.NodePort = 30999 })
		server.reconcileUntilIdle()
		editChild(t, server.fake, &corev1.Service{}, "web-service", func(s *corev1.Service) { s.Spec.Ports[0].NodePort = 30111 })
		for _, spec := range []int32{30999, 30222} {
			ws := getWebServer(t, server.fake)
			ws.Spec.NodePort = spec
			children, err := server.readChildren(t.Context(), ws)
			if err != nil {
				t.Fatal(err)
			}
			memory := server.memories.of(ws)
			memory.repairsOf(children.service).AllowN(time.Now(), repairBurst)
			needed, blocker := server.needsWrite(t.Context(), ws, children.service)
			if repair := spec == 30999; needed == repair || len(memory.contested()) != 1 || blocker != nil {
				t.Errorf("the spec asks for %d: it is written: %t; in its way is %v, contested are %v", spec, needed, blocker, memory.contested())
			}
		}
	})
}
