package controller

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
)

// TestAFieldThatIsContestedIsRepairedSeldomAndReported has an autoscaler scale a WebServer's Deployment again as
// soon as that is repaired.
func TestAFieldThatIsContestedIsRepairedSeldomAndReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, fake, ws := t.Context(), newFakeClient(t, storedWebServer()), storedWebServer()
		r := newFakeReconciler(fake)
		reconcile := func() { // what is contested is reported as an error, to be retried
			_, _ = r.Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(ws)})
		}
		reconcile()
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ws.Namespace, Name: ws.Name}}
		assignUID(t, fake, deployment)
		assignUID(t, fake, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ws.Namespace, Name: ws.Name + serviceSuffix}})
		scale := func() {
			t.Helper()
			if err := fake.Get(ctx, client.ObjectKeyFromObject(ws), deployment); err != nil {
				t.Fatal(err)
			}
			deployment.Spec.Replicas = ptr.To[int32](7)
			if err := fake.Update(ctx, deployment, client.FieldOwner("autoscaler")); err != nil {
				t.Fatal(err)
			}
		}
		repaired := func() bool {
			t.Helper()
			if err := fake.Get(ctx, client.ObjectKeyFromObject(ws), deployment); err != nil {
				t.Fatal(err)
			}
			return *deployment.Spec.Replicas == 0
		}
		for i := range repairBurst {
			scale()
			if reconcile(); !repaired() {
				t.Fatalf("change %d is not repaired", i+1)
			}
		}

		scale()
		if reconcile(); repaired() {
			t.Error("it is repaired without end")
		}
		degraded := meta.FindStatusCondition(getWebServer(t, fake).Status.Conditions, workload.Degraded)
		if degraded.Reason != workload.ReasonContested || !strings.HasPrefix(degraded.Message, "autoscaler keeps changing spec.replicas of the Deployment") {
			t.Errorf("reported is %s: %s", degraded.Reason, degraded.Message)
		}

		time.Sleep(10 * time.Second) // since the first of these repairs
		if reconcile(); repaired() {
			t.Error("it is repaired at full speed")
		}
		time.Sleep(repairInterval - 10*time.Second)
		if reconcile(); !repaired() {
			t.Error("it is never repaired again")
		}
	})
}

func TestOnlyOthersWhoOwnTheFieldAreNamed(t *testing.T) {
	owns := func(manager, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
	}
	const replicas, image = `{"f:spec":{"f:replicas":{}}}`,
		`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:image":{}}}}}}}`
	object := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		owns("without-fields", `{}`), {Manager: "unknown"}, owns("broken", `{`),
		owns("upgrader", image), owns("autoscaler", replicas), owns("both", `{"f:metadata":{"f:labels":{}},"f:spec":{"f:replicas":{},"f:selector":{}}}`),
		owns("autoscaler", replicas), owns(Name, replicas), owns("another", `{"f:spec":{"f:paused":{}}}`),
		owns("kubectl-set", `{"f:spec":{"f:selector":{}}}`),
		owns("kubectl-label", `{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{".":{},"f:strategy":{".":{},"f:type":{}}}}`),
		owns("kubectl-annotate", `{"f:metadata":{"f:annotations":{".":{},"f:app":{}}}}`),
	}}}
	for path, want := range map[string][]string{
		"spec.replicas":                          {"autoscaler", "both"},
		"spec.template.spec.containers[0].image": {"upgrader"},
		"spec.strategy.rollingUpdate":            nil,
		"spec.selector.app.kubernetes.io/name":   {"both", "kubectl-set"}, // of a structure that is owned as a whole
		"spec.selectors":                         nil,
		"metadata.labels.app":                    {"kubectl-label"},
		"metadata.labels.app.kubernetes.io/name": nil,
		"metadata.annotations.app.example":       nil,
	} {
		if got := managersOf(object, []string{"spec.minReadySeconds", path}); !slices.Equal(got, want) {
			t.Errorf("%s is owned by %q, want %q", path, got, want)
		}
	}
}

func TestRepairsAreCountedForTheFieldsOfAChildOfAResource(t *testing.T) {
	drifted := func(kind string, owned map[string]any) *child {
		return &child{kind: kind, desired: webServers.children(webServers, storedWebServer()).service.desired,
			extract: func() (any, error) { return &unstructured.Unstructured{Object: owned}, nil }}
	}
	ports := map[string]any{"spec": map[string]any{"type": "ClusterIP"}}
	var m, other memory
	first := m.repairsOf(drifted("Service", ports))
	if m.repairsOf(drifted("Service", ports)) != first {
		t.Error("the same fields are counted anew")
	}
	for what, another := range map[string]*rate.Limiter{
		"another resource's child": other.repairsOf(drifted("Service", ports)),
		"another child":            m.repairsOf(drifted("Deployment", ports)),
		"other fields":             m.repairsOf(drifted("Service", map[string]any{"spec": map[string]any{"type": "NodePort"}})),
	} {
		if another == first {
			t.Errorf("%s is counted together with the first", what)
		}
	}
}
