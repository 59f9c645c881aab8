package controller

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

// computed is the status of a WebServer that follows from what is observed.
func computed(ws *webserverv1.WebServer, o *observed) *webserverv1.WebServer {
	r := newFakeReconciler(nil)
	return r.computeStatus(ws, r.children(r.resourceKind, ws), o)
}

func TestAStatusNamesThePodsAsFarAsItHolds(t *testing.T) {
	const most = 10000 // which the CRD allows
	for _, count := range []int{0, 1, most, most + 1} {
		ws := storedWebServer()
		ws.Generation, ws.Status.Nodes = 7, []string{"gone"}
		o := &observed{desired: int32(count), pods: make([]corev1.Pod, count)}
		var names []string
		for i := range o.pods {
			o.pods[i].Name = fmt.Sprint("pod-", i)
			names = append(names, o.pods[i].Name)
		}
		for i := range min(count, 3) {
			o.pods[i].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}
		status := computed(ws, o).Status
		if int(status.Replicas) != count || int(status.ReadyReplicas) != min(count, 3) || status.ObservedGeneration != 7 || !slices.Equal(status.Nodes, names[:min(count, most)]) {
			t.Errorf("of %d Pods: %d, %d ready, %d named, generation %d", count, status.Replicas, status.ReadyReplicas, len(status.Nodes), status.ObservedGeneration)
		}
		if !slices.Equal(ws.Status.Nodes, []string{"gone"}) || len(ws.Status.Conditions) > 0 {
			t.Error("the resource that was read is changed")
		}
	}
}

func TestTheSelectorOfAStatusSelectsItsPodsAlone(t *testing.T) {
	web, other := storedWebServer(), storedWebServer()
	other.Name = "other"
	selector, err := labels.Parse(computed(web, &observed{}).Status.Selector)
	if err != nil {
		t.Fatal(err)
	}
	if !selector.Matches(labels.Set(webServers.selector(web))) || selector.Matches(labels.Set(webServers.selector(other))) || selector.Matches(labels.Set{}) {
		t.Errorf("the selector is %s", selector)
	}
}

// TestTransitionTimesMoveWhenTheStatusDoes observes states at random, one a second.
func TestTransitionTimesMoveWhenTheStatusDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seed := rand.Uint64()
		random, ws := rand.New(rand.NewPCG(seed, 0)), storedWebServer()
		theirs := metav1.Condition{Type: "example.com/Audited", Status: metav1.ConditionTrue, Reason: "Theirs", LastTransitionTime: metav1.Now()}
		ws.Status.Conditions = []metav1.Condition{theirs}
		refused := &blocker{child: "Service", reason: workload.ReasonRejected, message: "refused", needsUser: true}
		states := []*observed{
			{desired: 2}, {desired: 1, deployment: rolledOut(1), pods: pods("ready")}, {desired: 2, deployment: rolledOut(1), pods: pods("ready", "unschedulable")},
			{desired: 1, deployment: rolledOut(1), pods: pods("ready"), blockers: []*blocker{refused}}, {deployment: rolledOut(0)},
		}
		for range 200 {
			time.Sleep(time.Second)
			ws.Generation++
			after := computed(ws, states[random.IntN(len(states))])
			if !slices.Contains(after.Status.Conditions, theirs) || len(after.Status.Conditions) != 4 {
				t.Fatalf("seed %d: conditions are %+v", seed, after.Status.Conditions)
			}
			for _, is := range after.Status.Conditions {
				if is == theirs {
					continue
				}
				was := meta.FindStatusCondition(ws.Status.Conditions, is.Type)
				moves := was == nil || was.Status != is.Status
				if moves != (is.LastTransitionTime.Unix() == time.Now().Unix()) || !moves && is.LastTransitionTime != was.LastTransitionTime {
					t.Fatalf("seed %d: %+v became %+v", seed, was, is)
				}
				if is.ObservedGeneration != after.Generation {
					t.Fatalf("seed %d: %+v is of generation %d", seed, is, after.Generation)
				}
			}
			ws = after
		}
	})
}

// TestABlockedResourceTellsOfItsPods has a Service that is refused while one Pod after another becomes ready: the conditions
// differ in numbers alone.
func TestABlockedResourceTellsOfItsPods(t *testing.T) {
	blocked := func(ready ...string) *observed {
		return &observed{desired: 3, deployment: rolledOut(3), pods: pods(ready...),
			blockers: []*blocker{{child: "Service", reason: workload.ReasonRejected, message: "no answer from port 40001", needsUser: true}}}
	}
	after := computed(computed(storedWebServer(), blocked("ready", "", "")), blocked("ready", "ready", "ready"))
	if is := meta.FindStatusCondition(after.Status.Conditions, workload.Available); !strings.HasPrefix(is.Message, "3 Pods are ready") {
		t.Errorf("it says %q", is.Message)
	}
}

// TestWhatIsWrongIsNotOverBecauseTheDeploymentIsYetToLookAtItsSpec has somebody scale under a quota.
func TestWhatIsWrongIsNotOverBecauseTheDeploymentIsYetToLookAtItsSpec(t *testing.T) {
	failing := func() *observed {
		return &observed{desired: 2, deployment: with(rolledOut(1), appsv1.DeploymentReplicaFailure, "exceeded quota")}
	}
	forgotten, rejected := failing(), failing()
	forgotten.forgetRollout()
	rejected.deployment = rolledOut(1)
	rejected.blockers = []*blocker{{child: "Service", reason: workload.ReasonRejected, needsUser: true}}
	over := &observed{desired: 2, deployment: rolledOut(1)}
	unknown := &observed{desired: 2, deployment: rolledOut(1)}
	unknown.forgetRollout()
	for name, test := range map[string]struct {
		was, is *observed
		want    string
	}{
		"it is yet to look":                 {failing(), forgotten, workload.ReasonPodCreationFailed},
		"it has looked":                     {failing(), over, workload.ReasonAsExpected},
		"something else was wrong":          {rejected, unknown, workload.ReasonAsExpected},
		"something else is wrong meanwhile": {failing(), rejected, workload.ReasonRejected},
		"nothing was wrong":                 {over, unknown, workload.ReasonAsExpected},
	} {
		after := computed(computed(storedWebServer(), test.was), test.is)
		if is := meta.FindStatusCondition(after.Status.Conditions, workload.Degraded); is.Reason != test.want {
			t.Errorf("%s: it says %s: %s", name, is.Reason, is.Message)
		}
	}
	stuck := &observed{desired: 2, deployment: with(rolledOut(1), appsv1.DeploymentProgressing, "ProgressDeadlineExceeded")}
	stuck.forgetRollout()
	after := computed(storedWebServer(), stuck)
	if is := meta.FindStatusCondition(after.Status.Conditions, workload.Progressing); is.Reason != workload.ReasonRollingOut {
		t.Errorf("a new spec is %s", is.Reason)
	}
	if is := meta.FindStatusCondition(after.Status.Conditions, workload.Degraded); is.Reason != workload.ReasonProgressDeadlineExceeded {
		t.Errorf("what was stuck is %s", is.Reason)
	}
	ws := computed(storedWebServer(), failing())
	ws.Generation++
	if is := meta.FindStatusCondition(computed(ws, forgotten).Status.Conditions, workload.Degraded); is.ObservedGeneration != ws.Generation {
		t.Errorf("it is about generation %d", is.ObservedGeneration)
	}
}

// TestAClaimKeepsWhatTheWritesThatFollowDecide: whether one is refused again, and whether all is as the spec asks.
func TestAClaimKeepsWhatTheWritesThatFollowDecide(t *testing.T) {
	was := map[string]metav1.Condition{
		"complete": newCondition(workload.Progressing, false, workload.ReasonComplete, ""),
		"rolling":  newCondition(workload.Progressing, true, workload.ReasonRollingOut, "1 of 3"),
		"blocked":  newCondition(workload.Progressing, false, workload.ReasonBlocked, ""),
		"retrying": newCondition(workload.Progressing, true, workload.ReasonRetrying, ""),
		"degraded": newCondition(workload.Degraded, true, workload.ReasonRejected, ""),
		"fine":     newCondition(workload.Degraded, false, workload.ReasonAsExpected, ""),
		"serving":  newCondition(workload.Available, true, workload.ReasonPodsReady, ""),
		"silent":   newCondition(workload.Available, false, workload.ReasonNoPodReady, ""),
	}
	for name, test := range map[string]struct{ before, after, want string }{
		"the end of a rollout":       {"rolling", "complete", "rolling"},
		"that all was complete":      {"complete", "rolling", "rolling"},
		"that a child is blocked":    {"blocked", "rolling", "blocked"},
		"that a write will be tried": {"retrying", "rolling", "retrying"},
		"that nothing is wrong":      {"fine", "degraded", "fine"},
		"that something is":          {"degraded", "fine", "degraded"},
		"that Pods serve":            {"silent", "serving", "serving"},
		"what is said for once":      {"serving", "complete", "complete"},
		"what is said for once, too": {"serving", "degraded", "degraded"},
	} {
		t.Run(name, func(t *testing.T) {
			claimed := was[test.after]
			claimed.ObservedGeneration = 2
			status := &workload.Status{Conditions: []metav1.Condition{claimed}}
			for _, other := range []string{"fine", "rolling"} {
				if was[other].Type != claimed.Type {
					status.Conditions = append(status.Conditions, was[other])
				}
			}
			keepUnknown(&workload.Status{Conditions: []metav1.Condition{was[test.before]}}, status)
			want := was[test.want]
			want.ObservedGeneration = 2
			if status.Conditions[0] != want {
				t.Errorf("claimed is %+v", status.Conditions[0])
			}
		})
	}
}
