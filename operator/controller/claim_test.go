package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"github.com/operator-assay/assay/operator/api/workload"
)

func TestAClaimKeepsWhatIsBlocked(t *testing.T) {
	ws := storedWebServer()
	ws.Status.Conditions = []metav1.Condition{
		newCondition(workload.Progressing, false, workload.ReasonBlocked, "blocked"),
		newCondition(workload.Degraded, true, workload.ReasonRejected, "exceeded quota"),
	}
	r := newFakeReconciler(newFakeClient(t, ws))
	reported := events.NewFakeRecorder(1)
	r.events = reported
	if current, err := r.claim(t.Context(), ws, r.children(r.resourceKind, ws), true); err != nil || !current {
		t.Fatalf("current is %t: %v", current, err)
	}
	stored := getWebServer(t, r.Client)
	if stored.Status.ObservedGeneration != stored.Generation {
		t.Error("nothing is claimed")
	}
	for conditionType, reason := range map[string]string{workload.Progressing: workload.ReasonBlocked, workload.Degraded: workload.ReasonRejected} {
		if is := meta.FindStatusCondition(stored.Status.Conditions, conditionType); is.Reason != reason || is.ObservedGeneration != stored.Generation {
			t.Errorf("%s is now %+v", conditionType, is)
		}
	}
	if len(reported.Events) > 0 {
		t.Errorf("reported %q", <-reported.Events)
	}
}

func TestAClaimOfAnOlderVersionIsRefused(t *testing.T) {
	fake := newFakeClient(t, storedWebServer())
	cached, stored := getWebServer(t, fake), getWebServer(t, fake)
	r := newFakeReconciler(fake)
	expectRefused := func(what string) {
		t.Helper()
		if current, err := r.claim(t.Context(), cached.DeepCopy(), r.children(r.resourceKind, cached), true); err != nil || current {
			t.Errorf("%s: current is %t: %v", what, current, err)
		}
	}
	stored.Labels = map[string]string{"example.com/team": "web"}
	if err := fake.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	expectRefused("edited")
	if err := fake.Delete(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	expectRefused("deleted")
}

func TestAClaimForARolloutIsNotComplete(t *testing.T) {
	ws, deployment := storedWebServer(), rolledOut(0)
	deployment.Namespace, deployment.Name, deployment.UID = ws.Namespace, ws.Name, "deployment-uid"
	deployment.Annotations = map[string]string{annotationOwner: string(ws.UID)}
	fake := newFakeClient(t, ws, deployment)
	r := newFakeReconciler(fake)
	children, err := r.readChildren(t.Context(), ws)
	if err != nil {
		t.Fatal(err)
	}
	ws = getWebServer(t, fake)
	if current, err := r.claim(t.Context(), ws, children, true); err != nil || !current {
		t.Fatalf("current is %t: %v", current, err)
	}
	if is := meta.FindStatusCondition(ws.Status.Conditions, workload.Progressing); is.Reason != workload.ReasonRollingOut {
		t.Errorf("reported is %s", is.Reason)
	}
}
