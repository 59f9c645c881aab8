package controller

import (
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

func TestReportDelay(t *testing.T) {
	set := func(conditionType string, status bool, reason, message string) func(*webserverv1.WebServer, *appsv1.Deployment) {
		return func(ws *webserverv1.WebServer, _ *appsv1.Deployment) {
			meta.SetStatusCondition(&ws.Status.Conditions, condition(conditionType, status, reason, "%s", message))
		}
	}
	for name, test := range map[string]struct {
		change func(*webserverv1.WebServer, *appsv1.Deployment)
		want   time.Duration
	}{
		"another Pod":                {func(ws *webserverv1.WebServer, _ *appsv1.Deployment) { ws.Status.Nodes = []string{"web-3"} }, progressDelay},
		"progress of a rollout":      {set(workload.Progressing, true, workload.ReasonRollingOut, "changed"), progressDelay},
		"another ready Pod":          {set(workload.Available, true, workload.ReasonPodsReady, "changed"), progressDelay},
		"fewer Pods than desired":    {func(ws *webserverv1.WebServer, d *appsv1.Deployment) { ws.Status.Replicas, d.Status.Replicas = 1, 1 }, maxProgressDelay},
		"Pods not counted yet":       {func(_ *webserverv1.WebServer, d *appsv1.Deployment) { d.Status.Replicas = 1 }, maxProgressDelay},
		"ready Pods not counted yet": {func(_ *webserverv1.WebServer, d *appsv1.Deployment) { d.Status.ReadyReplicas = 0 }, maxProgressDelay},
		"Deployment not observed":    {func(_ *webserverv1.WebServer, d *appsv1.Deployment) { d.Generation = 2 }, maxProgressDelay},
		"fewer Pods due to a problem": {func(ws *webserverv1.WebServer, d *appsv1.Deployment) {
			ws.Status.Replicas, d.Status.Replicas = 1, 1
			set(workload.Degraded, true, workload.ReasonAsExpected, "before")(ws, d)
		}, progressDelay},
		"no ready Pod":             {set(workload.Available, false, workload.ReasonNoPodReady, "changed"), reportDelay},
		"a node port":              {func(ws *webserverv1.WebServer, _ *appsv1.Deployment) { ws.Status.NodePort = 31000 }, reportDelay},
		"another Degraded message": {set(workload.Degraded, false, workload.ReasonAsExpected, "changed"), reportDelay},
		"a new spec":               {func(ws *webserverv1.WebServer, _ *appsv1.Deployment) { ws.Status.ObservedGeneration++ }, 0},
		"a problem":                {set(workload.Degraded, true, workload.ReasonRejected, "changed"), 0},
		"the end of the rollout":   {set(workload.Progressing, false, workload.ReasonComplete, "changed"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			before, deployment := storedWebServer(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
			before.Spec.Replicas, before.Status.Replicas, before.Status.ReadyReplicas = new(int32(2)), 2, 1
			deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: 1, Replicas: 2, ReadyReplicas: 1}
			set(workload.Degraded, false, workload.ReasonAsExpected, "before")(before, nil)
			set(workload.Available, true, workload.ReasonPodsReady, "before")(before, nil)
			after := before.DeepCopy()
			if test.change(after, deployment); delay(before, after, deployment) != test.want {
				t.Errorf("got %s, want %s", delay(before, after, deployment), test.want)
			}
		})
	}
}

// A resource that becomes available usually completes its rollout soon afterwards, so both share one status update. A change
// after the rollout does not count as progress.
func TestReportDelayDependsOnTheStoredStatus(t *testing.T) {
	rolling := condition(workload.Progressing, true, workload.ReasonRollingOut, "")
	for name, test := range map[string]struct {
		before, change metav1.Condition
		want           time.Duration
	}{
		"during a rollout":     {rolling, condition(workload.Available, true, workload.ReasonPodsReady, ""), progressDelay},
		"after a rollout":      {condition(workload.Progressing, false, workload.ReasonComplete, ""), rolling, reportDelay},
		"in a blocked rollout": {condition(workload.Progressing, false, workload.ReasonBlocked, ""), condition(workload.Available, true, workload.ReasonPodsReady, ""), reportDelay},
	} {
		before := storedWebServer()
		before.Status.Conditions = []metav1.Condition{test.before}
		after := before.DeepCopy()
		meta.SetStatusCondition(&after.Status.Conditions, test.change)
		if got := delay(before, after, &appsv1.Deployment{}); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

// The problem of the previous spec may not apply to the new spec, so confirm must not report it for the new generation.
func TestConfirmKeepsDegradedOfThePreviousSpec(t *testing.T) {
	ws := storedWebServer()
	degraded := condition(workload.Degraded, true, workload.ReasonRejected, "the previous spec is invalid")
	degraded.ObservedGeneration = 1
	ws.Status.ObservedGeneration, ws.Status.Conditions, ws.Generation = 1, []metav1.Condition{degraded}, 2
	fake := newFakeClient(t, ws)
	if err := fake.Get(t.Context(), client.ObjectKeyFromObject(ws), ws); err != nil {
		t.Fatal(err)
	}
	if err := newFakeReconciler(webServers, fake).confirm(t.Context(), ws, webServers.children(webServers, ws)); err != nil {
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

// storedReconciler returns a reconciler, a Memcached stored in its client, and the Memcached's children.
func storedReconciler(t *testing.T) (*reconciler, *memcachedv1alpha1.Memcached, []*child) {
	cache := storedMemcached()
	fake := newFakeClient(t, cache)
	if err := fake.Get(t.Context(), client.ObjectKeyFromObject(cache), cache); err != nil {
		t.Fatal(err)
	}
	return newFakeReconciler(memcacheds, fake), cache, memcacheds.children(memcacheds, cache)
}

func TestReportWaitsForFurtherChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, cache, children := storedReconciler(t)
		if err := r.confirm(t.Context(), cache, children); err != nil {
			t.Fatal(err)
		}
		for _, want := range []time.Duration{maxProgressDelay, maxProgressDelay / 2, never, maxProgressDelay} {
			// A repair in the meantime does not change the status, so it does not start the delay again.
			if err := r.confirm(t.Context(), cache, children); err != nil {
				t.Fatal(err)
			}
			cache.Status.Replicas = 7 // outdated
			got, err := r.report(t.Context(), cache, children)
			if err != nil || got != want {
				t.Fatalf("got a report after %s, %v, want %s", got, err, want)
			}
			time.Sleep(min(got, maxProgressDelay/2))
		}
	})
}

// If the spec has not changed, confirm must not change the status. Otherwise an admission policy for the status could
// prevent a repair.
func TestConfirmChangesNothingIfTheSpecIsOld(t *testing.T) {
	cache := storedMemcached()
	cache.Status.ObservedGeneration, cache.Status.Replicas = 1, 7
	fake := newFakeClient(t, cache)
	if err := fake.Get(t.Context(), client.ObjectKeyFromObject(cache), cache); err != nil {
		t.Fatal(err)
	}
	before := cache.DeepCopy()
	if err := newFakeReconciler(memcacheds, fake).confirm(t.Context(), cache, memcacheds.children(memcacheds, cache)); err != nil {
		t.Fatal(err)
	}
	if !equality.Semantic.DeepEqual(cache.Status, before.Status) {
		t.Errorf("got status %+v, want %+v", cache.Status, before.Status)
	}
}
