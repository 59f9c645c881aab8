package controller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

// TestAReplacementIsAsSmallAsTheAPIServerAccepts has somebody give the readiness probe another handler, which an
// apply leaves beside the operator's, and the Pods a sidecar.
func TestAReplacementIsAsSmallAsTheAPIServerAccepts(t *testing.T) {
	ctx, ws := t.Context(), storedWebServer()
	fake := newFakeClient(t, ws)
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, ws.Name, nil)
	refuse := false
	r := newFakeReconciler(interceptor.NewClient(fake, interceptor.Funcs{
		Apply: func(ctx context.Context, fake client.WithWatch, configuration runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if refuse {
				return invalid
			}
			return fake.Apply(ctx, configuration, options...)
		},
		Patch: func(ctx context.Context, fake client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if deployment, ok := object.(*appsv1.Deployment); ok {
				for _, container := range deployment.Spec.Template.Spec.Containers {
					if probe := container.ReadinessProbe; probe != nil && probe.HTTPGet != nil && probe.TCPSocket != nil {
						return invalid
					}
				}
			}
			return fake.Patch(ctx, object, patch, options...)
		},
	}))
	if _, err := r.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(ws)}); err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ws.Namespace, Name: ws.Name}}
	assignUID(t, fake, deployment)
	pod := &deployment.Spec.Template.Spec
	pod.Containers[0].ReadinessProbe.ProbeHandler = corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}
	pod.Containers = append(pod.Containers, corev1.Container{Name: "sidecar", Image: "sidecar:1"})
	if err := fake.Update(ctx, deployment, client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}

	children, err := r.readChildren(ctx, getWebServer(t, fake))
	if err != nil {
		t.Fatal(err)
	}
	told := events.NewFakeRecorder(9)
	r.events, refuse = told, true
	if err := r.write(ctx, ws, children.deployment); err != nil {
		t.Fatal(err)
	}
	if note := <-told.Events; len(told.Events) > 0 || !strings.Contains(note, "readinessProbe.httpGet.port: 80 → none") {
		t.Errorf("told is %q, and %d more", note, len(told.Events))
	}
	if err := fake.Get(ctx, client.ObjectKeyFromObject(ws), deployment); err != nil {
		t.Fatal(err)
	}
	containers := deployment.Spec.Template.Spec.Containers
	if probe := containers[0].ReadinessProbe; probe.HTTPGet != nil || probe.TCPSocket == nil {
		t.Errorf("the probe is %+v", probe)
	}
	if len(containers) != 2 {
		t.Errorf("the sidecar is gone: %+v", containers)
	}
}

// refuseBy answers each apply with an error.
func refuseBy(err error) func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
	return func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
		return err
	}
}

// TestAReplacementGoesAsFarAsTheAPIServerNeeds has somebody pause the Deployment, which an API server refuses until the
// spec is replaced as a whole, or for ever, or changes it meanwhile.
func TestAReplacementGoesAsFarAsTheAPIServerNeeds(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "web", nil)
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "deployments"}, "web", errors.New("changed"))
	for name, test := range map[string]struct {
		answer   func(replaced bool) error // to a patch that is no dry run
		want     error
		attempts int
	}{
		"the spec as a whole":     {func(replaced bool) error { return map[bool]error{false: invalid}[replaced] }, nil, deepest},
		"nothing is enough":       {func(bool) error { return invalid }, invalid, deepest},
		"it is changed meanwhile": {func(replaced bool) error { return map[bool]error{false: invalid, true: conflict}[replaced] }, conflict, deepest},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				settled, attempts := settledObjects(t), 0
				fake := newFakeClient(t, settled...)
				editChild(t, client.WithFieldOwner(fake, "somebody"), &appsv1.Deployment{}, "web", func(d *appsv1.Deployment) { d.Spec.Paused = true })
				r, told := newFakeReconciler(interceptor.NewClient(fake, interceptor.Funcs{
					Apply: refuseBy(invalid),
					Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
						replaced := !object.(*appsv1.Deployment).Spec.Paused
						if len((&client.PatchOptions{}).ApplyOptions(options).DryRun) > 0 {
							return map[bool]error{false: invalid}[replaced]
						}
						attempts++
						if err := test.answer(replaced); err != nil {
							return err
						}
						return c.Patch(ctx, object, patch, options...)
					},
				})), events.NewFakeRecorder(9)
				r.events = told
				children, err := r.readChildren(t.Context(), getWebServer(t, fake))
				if err != nil {
					t.Fatal(err)
				}
				if err := r.write(t.Context(), getWebServer(t, fake), children.deployment); !errors.Is(err, test.want) || attempts != test.attempts {
					t.Errorf("after %d attempts: %v", attempts, err)
				}
				if happened := test.want == nil; (len(told.Events) > 0) != happened {
					t.Errorf("%d Events tell of it", len(told.Events))
				}
			})
		})
	}
}

// TestFieldsThatAreMigratedAlreadyAreLeft has the cache show what somebody else has migrated meanwhile.
func TestFieldsThatAreMigratedAlreadyAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFakeReconciler(interceptor.NewClient(newFakeClient(t, settledObjects(t)...), interceptor.Funcs{
			Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
				return errors.New("there is nothing to migrate")
			},
		}))
		if err := r.migrateManagedFields(t.Context(), r.children(r.resourceKind, storedWebServer()).service); err != nil {
			t.Error(err)
		}
		r.apiReader = interceptor.NewClient(newFakeClient(t), interceptor.Funcs{
			Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
				entry := metav1.ManagedFieldsEntry{Manager: Name, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{`)}
				updated := entry
				updated.Operation = metav1.ManagedFieldsOperationUpdate
				object.SetManagedFields([]metav1.ManagedFieldsEntry{entry, updated})
				return nil
			},
		})
		if err := r.migrateManagedFields(t.Context(), r.children(r.resourceKind, storedWebServer()).service); err == nil || strings.Contains(err.Error(), "nothing to migrate") {
			t.Errorf("fields that cannot be read: %v", err)
		}
	})
}

// TestARolloutThatAReplacementBeganIsNotComplete: the Deployment's status is still about the image of before, whether or not the
// watch shows the new one.
func TestARolloutThatAReplacementBeganIsNotComplete(t *testing.T) {
	for name, late := range map[string]bool{"the watch shows it": false, "the watch is late": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFakeServer(t, completeObjects(t)...)
				server.counts = true
				if late {
					server.show(server.stored(t.Context(), "Deployment", "web").(*appsv1.Deployment))
				}
				server.failing, server.failure = "apply web", apierrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, "web", nil)
				editWebServer(t, server.fake, func(ws *webserverv1.WebServer) { ws.Spec.Image = "nginx:1.99" })
				server.event()
				if server.reported(workload.Progressing) == workload.ReasonComplete {
					t.Error("it is complete")
				}
			})
		})
	}
}

// TestWithoutAServiceNothingIsComplete: one that no update can repair is deleted, and made anew when it has gone.
func TestWithoutAServiceNothingIsComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, completeObjects(t)...)
		work["a child that no update can repair"](t, server.fake)
		work["a node port"](t, server.fake)
		if result, _ := server.event(); result.IsZero() {
			t.Error("nobody looks again")
		}
		if server.reported(workload.Progressing) == workload.ReasonComplete {
			t.Error("it is complete")
		}
		if _, requests := server.event(); !slices.Contains(requests, "apply web-service") {
			t.Errorf("when it has gone, requested is %q", requests)
		}
	})
}
