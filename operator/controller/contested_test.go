package controller

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

		time.Sleep(repairInterval)
		if reconcile(); !repaired() {
			t.Error("it is never repaired again")
		}
	})
}
