package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

func TestStatusUrgency(t *testing.T) {
	set := func(conditionType string, status bool, reason, message string) func(resource) {
		return func(ws resource) {
			meta.SetStatusCondition(&ws.CommonStatus().Conditions, condition(conditionType, status, reason, "%s", message))
		}
	}
	for name, test := range map[string]struct {
		change          func(resource)
		want, important bool
	}{
		"a new Pod":                {func(ws resource) { ws.CommonStatus().Nodes = []string{"web-1"} }, false, false},
		"a rollout's progress":     {set(workload.Progressing, true, workload.ReasonRollingOut, "changed"), false, false},
		"another ready Pod":        {set(workload.Available, true, workload.ReasonPodsReady, "changed"), false, false},
		"a node port":              {func(ws resource) { ws.(*webserverv1.WebServer).Status.NodePort = 31000 }, false, true},
		"a new spec":               {func(ws resource) { ws.CommonStatus().ObservedGeneration++ }, true, false},
		"no ready Pod":             {set(workload.Available, false, workload.ReasonNoPodReady, "changed"), false, true},
		"a problem":                {set(workload.Degraded, true, workload.ReasonRejected, "changed"), true, true},
		"the end of the rollout":   {set(workload.Progressing, false, workload.ReasonComplete, "changed"), true, false},
		"another Degraded message": {set(workload.Degraded, false, workload.ReasonAsExpected, "changed"), false, true},
	} {
		t.Run(name, func(t *testing.T) {
			before := storedWebServer()
			set(workload.Degraded, false, workload.ReasonAsExpected, "before")(before)
			set(workload.Available, true, workload.ReasonPodsReady, "before")(before)
			after := before.DeepCopy()
			if test.change(after); urgent(before, after) != test.want {
				t.Errorf("got urgent: %t, want %t", !test.want, test.want)
			}
			if important(before, after) != test.important {
				t.Errorf("got important: %t, want %t", !test.important, test.important)
			}
		})
	}
}

// What was wrong with the previous spec need not be wrong with the new one.
func TestClaimKeepsDegradedOfThePreviousSpec(t *testing.T) {
	ws := storedWebServer()
	degraded := condition(workload.Degraded, true, workload.ReasonRejected, "the previous spec is invalid")
	degraded.ObservedGeneration = 1
	ws.Status.ObservedGeneration, ws.Status.Conditions, ws.Generation = 1, []metav1.Condition{degraded}, 2
	fake := newFakeClient(t, ws)
	if err := fake.Get(t.Context(), client.ObjectKeyFromObject(ws), ws); err != nil {
		t.Fatal(err)
	}
	if err := newFakeReconciler(webServers, fake).claim(t.Context(), ws, webServers.children(webServers, ws)); err != nil {
		t.Fatal(err)
	}
	got := conditionOf(ws, workload.Degraded)
	if ws.Status.ObservedGeneration != 2 || got.ObservedGeneration != 1 || got.Reason != workload.ReasonRejected {
		t.Errorf("got generation %d and Degraded %+v", ws.Status.ObservedGeneration, got)
	}
	if got := conditionOf(ws, workload.Progressing); got.Reason != workload.ReasonRollingOut || got.ObservedGeneration != 2 {
		t.Errorf("got Progressing %+v", got)
	}
}
