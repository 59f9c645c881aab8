package controller

import (
	"context"
	"errors"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/operator-assay/assay/operator/api/workload"
)

// unreadable is a client that cannot read Services.
func unreadable(c client.WithWatch, broken error) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, service := object.(*corev1.Service); service {
				return broken
			}
			return c.Get(ctx, key, object, options...)
		},
	})
}

// TestAChildThatLostItsLabelIsLookedForAtTheAPIServer: the cache does not show it. What was never claimed was never made.
func TestAChildThatLostItsLabelIsLookedForAtTheAPIServer(t *testing.T) {
	broken := errors.New("no answer")
	refused := &blocker{child: "Service", reason: workload.ReasonRetrying, retryAfter: cacheReadTimeout, message: `Service "web-service" cannot be read: no answer`}
	strangers := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-service", UID: "strangers"}}
	mine := strangers.DeepCopy()
	mine.Annotations = map[string]string{annotationOwner: "web-uid"}
	for name, test := range map[string]struct {
		observed int64
		reader   client.Reader
		needed   bool
		blocker  *blocker
		unread   error
	}{
		"it never was":             {0, unreadable(newFakeClient(t), broken), true, nil, nil},
		"it is gone":               {1, newFakeClient(t), true, nil, nil},
		"it is still there":        {1, newFakeClient(t, mine), true, nil, nil},
		"another one has its name": {1, newFakeClient(t, strangers), false, &blocker{child: "Service", reason: workload.ReasonNotControlled, needsUser: true, message: `Service "web-service" exists and is not controlled by this WebServer: delete it, or give this WebServer another name`}, nil},
		"nobody knows":             {1, unreadable(newFakeClient(t), broken), false, refused, broken},
	} {
		t.Run(name, func(t *testing.T) {
			r, ws := newFakeReconciler(newFakeClient(t)), storedWebServer()
			r.apiReader, ws.Status.ObservedGeneration = test.reader, test.observed
			child := r.children(r.resourceKind, ws).service
			needed, blocker := r.needsWrite(t.Context(), ws, child)
			if needed != test.needed || !reflect.DeepEqual(blocker, test.blocker) || !errors.Is(child.unread, test.unread) || (child.unread == nil) != (test.unread == nil) {
				t.Errorf("needed: %t, %+v, unread: %v", needed, blocker, child.unread)
			}
		})
	}
}

func TestPodsThatNobodyCanReadOfAreNotReportedAsGone(t *testing.T) {
	unread := errors.New("no answer")
	for _, nodes := range [][]string{nil, {"web-1-a"}} {
		ws := storedWebServer()
		ws.Status.Nodes, ws.Status.Replicas = nodes, int32(len(nodes))
		fake := newFakeClient(t, ws)
		r := newFakeReconciler(fake)
		children := r.children(r.resourceKind, ws)
		children.deployment.unread = unread
		_, err := r.updateStatus(t.Context(), getWebServer(t, fake), children, []*blocker{{reason: workload.ReasonRetrying, message: "no answer"}})
		stored := getWebServer(t, fake).Status
		if len(nodes) > 0 && (!errors.Is(err, unread) || len(stored.Conditions) > 0) || len(nodes) == 0 && len(stored.Conditions) == 0 || len(stored.Nodes) != len(nodes) {
			t.Errorf("of %q is reported %+v, %v", nodes, stored, err)
		}
	}
}

// TestAnOrphanOfAResourceThatGoesStaysOne: kubectl delete --cascade=orphan takes the owner references before the resource.
func TestAnOrphanOfAResourceThatGoesStaysOne(t *testing.T) {
	for name, test := range map[string]struct {
		deleted, controlled, upToDate bool
		needed                        bool
	}{
		"it is orphaned":          {deleted: true},
		"it has drifted":          {deleted: true, controlled: true, needed: true},
		"somebody took its owner": {needed: true},
		"it is as it should be":   {controlled: true, upToDate: true},
		"and its owner goes":      {deleted: true, controlled: true, upToDate: true},
	} {
		t.Run(name, func(t *testing.T) {
			ws := storedWebServer()
			if test.deleted {
				ws.DeletionTimestamp = new(metav1.Now())
			}
			service, child := appliedService()
			service.Annotations = map[string]string{annotationOwner: "web-uid"}
			if test.controlled {
				service.OwnerReferences = controllerReference(ws)
			}
			if !test.upToDate {
				child.extract = func() (any, error) { return &unstructured.Unstructured{Object: map[string]any{}}, nil }
			}
			needed, blocker := newFakeReconciler(newFakeClient(t)).needsWrite(t.Context(), ws, child)
			if needed != test.needed || blocker != nil {
				t.Errorf("needed: %t, %+v", needed, blocker)
			}
		})
	}
}

// TestACreationIsRefusedByWhatHasTheName has an object come before the creation that the cache gave reason to.
func TestACreationIsRefusedByWhatHasTheName(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{}, "web-service", errors.New("there is one"))
	strangers := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-service", UID: "strangers"}}
	mine := strangers.DeepCopy()
	mine.Annotations = map[string]string{annotationOwner: "web-uid"}
	for name, test := range map[string]struct {
		reader client.Reader
		reason string
	}{
		"somebody else's":     {newFakeClient(t, strangers), workload.ReasonNotControlled},
		"its own":             {newFakeClient(t, mine), ""},
		"one that went again": {newFakeClient(t), ""},
		"nobody knows whose":  {unreadable(newFakeClient(t), errors.New("no answer")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var asked context.Context
			r, ws := newFakeReconciler(interceptor.NewClient(newFakeClient(t), interceptor.Funcs{
				Apply: func(ctx context.Context, _ client.WithWatch, _ runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
					asked = ctx
					return conflict
				},
			})), storedWebServer()
			r.apiReader = test.reader
			err := r.write(t.Context(), ws, r.children(r.resourceKind, ws).service)
			var taken *blocker
			if errors.As(err, &taken) != (test.reason != "") || taken != nil && taken.reason != test.reason || taken == nil && !errors.Is(err, conflict) {
				t.Errorf("got %v", err)
			}
			if asked.Err() == nil {
				t.Error("its timer goes on")
			}
		})
	}
}

// TestAnAdmissionPolicyThatUndoesAnApplyIsNamed: what the API server stores is at once not what was applied.
func TestAnAdmissionPolicyThatUndoesAnApplyIsNamed(t *testing.T) {
	rewritten := &blocker{child: "Service", reason: workload.ReasonContested, needsUser: true,
		message: "an admission policy changes spec.type of the Service when it is applied: exempt the Service from it"}
	broken := errors.New("no answer")
	for name, test := range map[string]struct {
		drifts    bool
		meanwhile func(context.Context, client.WithWatch) error
		want      error
	}{
		"none does": {},
		"one does":  {drifts: true, want: rewritten},
		"somebody edits it meanwhile": {drifts: true, meanwhile: func(ctx context.Context, c client.WithWatch) error {
			return c.Patch(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-service"}}, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`)))
		}},
		"somebody deletes it meanwhile": {drifts: true, meanwhile: func(ctx context.Context, c client.WithWatch) error {
			return c.Delete(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-service"}})
		}},
		"nobody can read it": {drifts: true, meanwhile: func(context.Context, client.WithWatch) error { return broken }, want: broken},
	} {
		t.Run(name, func(t *testing.T) {
			ws := storedWebServer()
			r := newFakeReconciler(interceptor.NewClient(newFakeClient(t), interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					if test.meanwhile != nil {
						if err := test.meanwhile(ctx, c); err != nil {
							return err
						}
					}
					return c.Get(ctx, key, object, options...)
				},
			}))
			child := r.children(r.resourceKind, ws).service
			child.extract = func() (any, error) {
				owned := &unstructured.Unstructured{Object: fieldsOf(child.desired)}
				if test.drifts {
					return owned, unstructured.SetNestedField(owned.Object, "ClusterIP", "spec", "type")
				}
				return owned, nil
			}
			if err := r.apply(t.Context(), ws, child, reasonCreated); !reflect.DeepEqual(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

// TestWhatIsRefusedInEveryFormIsReportedAsItWas: neither a replacement nor a yielded node port helps.
func TestWhatIsRefusedInEveryFormIsReportedAsItWas(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{}, "web", nil)
	settled := settledObjects(t)
	r, ws := newFakeReconciler(interceptor.NewClient(newFakeClient(t, settled...), interceptor.Funcs{
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			return invalid
		},
		Patch: func(_ context.Context, _ client.WithWatch, _ client.Object, _ client.Patch, options ...client.PatchOption) error {
			if (&client.PatchOptions{}).ApplyOptions(options).DryRun == nil {
				t.Error("it is tried for real")
			}
			return apierrors.NewBadRequest("because of others")
		},
	})), storedWebServer()
	children, err := r.readChildren(t.Context(), ws)
	if err != nil {
		t.Fatal(err)
	}
	for _, child := range children.all() {
		if err := r.write(t.Context(), ws, child); !errors.Is(err, invalid) {
			t.Errorf("got %v", err)
		}
	}
}

// TestWhoKeepsChangingFieldsIsNamed has two managers change two fields.
func TestWhoKeepsChangingFieldsIsNamed(t *testing.T) {
	owns := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Operation: metav1.ManagedFieldsOperationUpdate}
	}
	r, ws := newFakeReconciler(newFakeClient(t)), storedWebServer()
	r.apiReader = newFakeClient(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-service",
		ManagedFields: []metav1.ManagedFieldsEntry{owns("mesh", `{"f:spec":{"f:type":{}}}`), owns("balancer", `{"f:spec":{"f:type":{},"f:ports":{}}}`)}}})
	child := r.children(r.resourceKind, ws).service
	ownsAllBut(child, []string{"spec", "type"}, []string{"metadata", "labels", labelInstance})
	want := &blocker{child: "Service", reason: workload.ReasonContested, needsUser: true,
		message: "balancer, mesh keeps changing metadata.labels.app.kubernetes.io/instance, spec.type of the Service, which is repaired once in 15s: let only one of both set it"}
	if got := r.contested(t.Context(), child); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestWhoIsUnknownIsNotBlamed(t *testing.T) {
	for name, reader := range map[string]client.Reader{
		"the object has no other manager": newFakeClient(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-service"}}),
		"nobody can read it":              unreadable(newFakeClient(t), errors.New("no answer")),
	} {
		r, ws := newFakeReconciler(newFakeClient(t)), storedWebServer()
		r.apiReader = reader
		child := r.children(r.resourceKind, ws).service
		ownsAllBut(child, []string{"spec", "type"}, []string{"spec", "selector", labelName})
		want := &blocker{child: "Service", reason: workload.ReasonContested, needsUser: true,
			message: "somebody, or an admission policy, keeps changing or removing spec.selector.app.kubernetes.io/name, spec.type of the Service, which is repaired once in 15s: let only one of both set it"}
		if got := r.contested(t.Context(), child); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// ownsAllBut has the operator own what it desires of a child, but for the fields that somebody else has changed.
func ownsAllBut(child *child, fields ...[]string) {
	child.extract = func() (any, error) {
		owned := &unstructured.Unstructured{Object: fieldsOf(child.desired)}
		for _, field := range fields {
			unstructured.RemoveNestedField(owned.Object, field...)
		}
		return owned, nil
	}
}
