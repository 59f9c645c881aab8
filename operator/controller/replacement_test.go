package controller

import (
	"context"
	"strings"
	"testing"

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
