package controller

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
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

// storedReconciler returns a reconciler, a Memcached that its client stores, and the children of the Memcached.
func storedReconciler(t *testing.T) (*reconciler, *memcachedv1alpha1.Memcached, []*child) {
	cache := storedMemcached()
	fake := newFakeClient(t, cache)
	if err := fake.Get(t.Context(), client.ObjectKeyFromObject(cache), cache); err != nil {
		t.Fatal(err)
	}
	return newFakeReconciler(memcacheds, fake), cache, memcacheds.children(memcacheds, cache)
}

func TestProgressIsReportedAtIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, cache, children := storedReconciler(t)
		if err := r.computeStatus(t.Context(), cache, children, false); err != nil {
			t.Fatal(err)
		}
		for _, want := range []time.Duration{reportDelay, progressInterval, progressInterval} {
			for _, want := range []time.Duration{want, never} {
				cache.Status.Replicas = 7 // outdated
				got, err := r.report(t.Context(), cache, children)
				if err != nil || got != want {
					t.Fatalf("got a report after %s, %v, want %s", got, err, want)
				}
				if got != never {
					time.Sleep(got)
				}
			}
		}
	})
}

// The start of a rollout counts as progress. Otherwise a rollout that takes longer than reportDelay would need another
// status update.
func TestProgressWaitsAfterTheStartOfARollout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, cache, children := storedReconciler(t)
		if err := r.confirm(t.Context(), cache, children); err != nil {
			t.Fatal(err)
		}
		if err := r.computeStatus(t.Context(), cache, children, false); err != nil {
			t.Fatal(err)
		}
		cache.Status.Replicas = 7 // outdated
		if got, err := r.report(t.Context(), cache, children); err != nil || got != progressInterval {
			t.Errorf("got a report after %s, %v, want %s", got, err, progressInterval)
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
