package controller

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

func TestReportDelay(t *testing.T) {
	type change func(*webserverv1.WebServer)
	set := func(conditionType string, status metav1.ConditionStatus, reason, message string) change {
		return func(ws *webserverv1.WebServer) {
			meta.SetStatusCondition(&ws.Status.Conditions, condition(conditionType, status, reason, "%s", message))
		}
	}
	rolling := set(workload.Progressing, metav1.ConditionTrue, workload.ReasonRollingOut, "")
	complete := set(workload.Progressing, metav1.ConditionFalse, workload.ReasonComplete, "")
	blocked := set(workload.Progressing, metav1.ConditionFalse, workload.ReasonBlocked, "")
	ready := set(workload.Available, metav1.ConditionTrue, workload.ReasonPodsReady, "")
	healthy := set(workload.Degraded, metav1.ConditionFalse, workload.ReasonAsExpected, "")
	for name, test := range map[string]struct {
		before, after []change
		want          time.Duration
	}{
		"the end of a rollout":       {[]change{rolling}, []change{complete}, 0},
		"the start of a rollout":     {[]change{complete}, []change{rolling}, reportDelay},
		"the progress of a rollout":  {[]change{rolling}, []change{set(workload.Progressing, metav1.ConditionTrue, workload.ReasonRollingOut, "changed")}, progressDelay},
		"the first ready Pod":        {[]change{rolling}, []change{ready}, progressDelay}, // often the rollout is complete soon afterwards
		"a Pod of a ready resource":  {[]change{rolling, ready}, []change{func(ws *webserverv1.WebServer) { ws.Status.Replicas = 1 }}, progressDelay},
		"a different number of Pods": {[]change{rolling}, []change{func(ws *webserverv1.WebServer) { ws.Status.Replicas = 1 }}, progressDelay},
		"a blocked rollout":          {[]change{rolling}, []change{blocked}, reportDelay},
		"a message after a rollout":  {[]change{complete}, []change{set(workload.Available, metav1.ConditionTrue, workload.ReasonPodsReady, "changed")}, reportDelay},
		"a Pod of a blocked rollout": {[]change{blocked}, []change{ready}, reportDelay},
		"no ready Pod":               {[]change{rolling, ready}, []change{set(workload.Available, metav1.ConditionFalse, workload.ReasonNoPodReady, "")}, reportDelay},
		"a node port":                {[]change{rolling}, []change{func(ws *webserverv1.WebServer) { ws.Status.NodePort = 31000 }}, 400 * time.Millisecond},
		"a problem":                  {[]change{rolling, healthy}, []change{set(workload.Degraded, metav1.ConditionTrue, workload.ReasonRejected, "rejected")}, 0},
		"another message":            {[]change{rolling, healthy}, []change{set(workload.Degraded, metav1.ConditionFalse, workload.ReasonAsExpected, "changed")}, reportDelay},
		"a new spec":                 {[]change{rolling, func(ws *webserverv1.WebServer) { ws.Generation++ }}, nil, reportDelay},
	} {
		before := storedWebServer()
		before.Status.ObservedGeneration = before.Generation
		for _, change := range test.before {
			change(before)
		}
		after := before.DeepCopy()
		for _, change := range test.after {
			change(after)
		}
		if got := delay(before, after); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
}

// A problem with the previous spec may not exist in the new one, so confirm must not report it for the new generation.
func TestConfirmKeepsDegradedOfThePreviousSpec(t *testing.T) {
	r, cache, children := storedReconciler(t)
	degraded := condition(workload.Degraded, metav1.ConditionTrue, workload.ReasonRejected, "the previous spec is invalid")
	degraded.ObservedGeneration = 1
	cache.Status.ObservedGeneration, cache.Status.Conditions, cache.Generation = 1, []metav1.Condition{degraded}, 2
	noError(t, r.confirm(t.Context(), cache, children))
	got := cache.Status.Condition(workload.Degraded)
	if cache.Status.ObservedGeneration != 2 || got.ObservedGeneration != 1 || got.Reason != workload.ReasonRejected {
		t.Errorf("got generation %d and Degraded %+v", cache.Status.ObservedGeneration, got)
	}
	if got := cache.Status.Condition(workload.Progressing); got.Reason != workload.ReasonRollingOut || got.ObservedGeneration != 2 {
		t.Errorf("got Progressing %+v", got)
	}
}

// storedReconciler returns a reconciler, a Memcached stored in its client, and the Memcached's children.
func storedReconciler(t *testing.T) (*reconciler, *memcachedv1alpha1.Memcached, []*child) {
	cache := storedMemcached()
	fake := newFakeClient(t, cache)
	noError(t, fake.Get(t.Context(), client.ObjectKeyFromObject(cache), cache))
	return newFakeReconciler(memcacheds, fake), cache, memcacheds.children(memcacheds, cache)
}

func TestReportWaitsForFurtherChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, cache, children := storedReconciler(t)
		noError(t, r.confirm(t.Context(), cache, children))
		if got, err := r.report(t.Context(), cache, children); err != nil || got != never {
			t.Fatalf("got a report after %s, %v, want none", got, err)
		}
		for i, want := range []time.Duration{progressDelay, progressDelay / 2, never, progressDelay, never, progressDelay} {
			replicas := []int32{7, 7, 7, 7, 0, 7}[i] // 7 is outdated
			cache.Status.Replicas = replicas
			// confirm must not restart the delay or, if the spec is unchanged, change the status: a policy could reject that.
			if noError(t, r.confirm(t.Context(), cache, children)); cache.Status.Replicas != replicas {
				t.Errorf("got a status that was changed before a repair: %+v", cache.Status)
			}
			got, err := r.report(t.Context(), cache, children)
			if err != nil || got != want {
				t.Fatalf("%d: got a report after %s, %v, want %s", i, got, err, want)
			}
			time.Sleep(min(got, progressDelay/2))
		}
	})
}

func TestDegradationAndRecoveryAreEvents(t *testing.T) {
	r, cache, _ := storedReconciler(t)
	recorder := &events.FakeRecorder{Events: make(chan string, 4), Verbose: true}
	r.events = recorder
	for _, c := range []metav1.Condition{
		condition(workload.Degraded, metav1.ConditionTrue, workload.ReasonRejected, "first"), condition(workload.Degraded, metav1.ConditionTrue, workload.ReasonRejected, "second"),
		condition(workload.Degraded, metav1.ConditionFalse, workload.ReasonAsExpected, "fine"), condition(workload.Degraded, metav1.ConditionFalse, workload.ReasonAsExpected, "still fine"),
	} {
		before := cache.DeepCopy()
		meta.SetStatusCondition(&cache.Status.Conditions, c)
		noError(t, r.updateStatus(t.Context(), before, cache))
	}
	close(recorder.Events)
	if first, second := <-recorder.Events, <-recorder.Events; first != "Warning Rejected Reconcile first" || second != "Normal Recovered Reconcile recovered from Rejected: second" || len(recorder.Events) > 0 {
		t.Errorf("got Events %q, %q and %d more, want one for each", first, second, len(recorder.Events))
	}
}

// A problem with the Deployment does not block the rollout if the Deployment already has the desired fields.
func TestContestedDeploymentIsRolledOut(t *testing.T) {
	r, cache, children := storedReconciler(t)
	c := children[0]
	c.state, c.problem = r.states.of(cache).child(c), &problem{reason: workload.ReasonContested}
	c.extract = func(client.Object) (any, error) { return c.desired, nil }
	c.object.SetUID("child-uid")
	noError(t, r.computeStatus(t.Context(), cache, children, false))
	if got := cache.Status.Condition(workload.Progressing); got.Reason != workload.ReasonRollingOut {
		t.Errorf("got Progressing %+v, want RollingOut", got)
	}
}
