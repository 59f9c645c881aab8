package controller

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestAWriteThatFailsIsAnErrorAndNoEvent has what each way of writing a Service begins with fail.
func TestAWriteThatFailsIsAnErrorAndNoEvent(t *testing.T) {
	broken, gone := errors.New("connection reset"), apierrors.NewNotFound(schema.GroupResource{}, "web-service")
	strangers := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-service", UID: "strangers"}}
	settled := settledObjects(t)
	service := func(change func(*corev1.Service)) *corev1.Service {
		object := settled[2].DeepCopyObject().(*corev1.Service)
		change(object)
		return object
	}
	updated := func(s *corev1.Service) {
		s.ManagedFields = append(s.ManagedFields, metav1.ManagedFieldsEntry{Manager: Name, Operation: metav1.ManagedFieldsOperationUpdate})
	}
	headless := func(s *corev1.Service) { s.Spec.ClusterIP = corev1.ClusterIPNone }
	for name, test := range map[string]struct {
		object  *corev1.Service
		failure error
		want    error
	}{
		"a creation":                 {&corev1.Service{}, broken, broken},
		"an apply":                   {service(func(*corev1.Service) {}), broken, broken},
		"a migration of fields":      {service(updated), broken, broken},
		"a deletion":                 {service(headless), broken, broken},
		"a deletion of what is gone": {service(headless), gone, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r, ws := newFakeReconciler(interceptor.NewClient(newFakeClient(t), interceptor.Funcs{
				Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
					return test.failure
				},
				Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
					return test.failure
				},
			})), storedWebServer()
			r.apiReader = interceptor.NewClient(newFakeClient(t, strangers), interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					if test.object.UID != "" {
						return test.failure
					}
					return c.Get(ctx, key, object, options...)
				},
			})
			told := events.NewFakeRecorder(9)
			r.events = told
			child := r.children(r.resourceKind, ws).service
			if test.object.UID != "" {
				test.object.DeepCopyInto(child.object.(*corev1.Service))
			}
			if err := r.write(t.Context(), ws, child); !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
				t.Errorf("got %v", err)
			}
			if len(told.Events) > 0 && test.want != nil {
				t.Errorf("told is %q", <-told.Events)
			}
		})
	}
}
