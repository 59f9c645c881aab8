package controller

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

func TestOnlyWhatFollowsPodsWaits(t *testing.T) {
	complete := func() *webserverv1.WebServer {
		ws := &webserverv1.WebServer{}
		ws.Generation = 1
		ws.Status.NodePort = 30080
		ws.Status.Status = workload.Status{ObservedGeneration: 1, Replicas: 1, ReadyReplicas: 1, Nodes: []string{"pod-0"}, Conditions: []metav1.Condition{
			{Type: workload.Available, Status: metav1.ConditionTrue, Reason: workload.ReasonPodsReady},
			{Type: workload.Progressing, Status: metav1.ConditionFalse, Reason: workload.ReasonComplete},
			{Type: workload.Degraded, Status: metav1.ConditionFalse, Reason: workload.ReasonAsExpected},
		}}
		return ws
	}
	rollingOut := func() *webserverv1.WebServer {
		ws := complete()
		ws.Status.Conditions[1] = metav1.Condition{Type: workload.Progressing, Status: metav1.ConditionTrue, Reason: workload.ReasonRollingOut}
		return ws
	}
	const available, progressing, degraded = 0, 1, 2
	for name, test := range map[string]struct {
		change    func(*webserverv1.WebServer)
		immediate bool
	}{
		"a Pod more":               {func(ws *webserverv1.WebServer) { ws.Status.Replicas++ }, false},
		"a Pod of another name":    {func(ws *webserverv1.WebServer) { ws.Status.Nodes[0] = "pod-1" }, false},
		"another message":          {func(ws *webserverv1.WebServer) { ws.Status.Conditions[progressing].Message = "2 of 3" }, false},
		"all is as the spec asks":  {func(ws *webserverv1.WebServer) { ws.Status.Conditions[progressing].Reason = workload.ReasonComplete }, true},
		"an answer to the spec":    {func(ws *webserverv1.WebServer) { ws.Status.ObservedGeneration++ }, true},
		"a node port":              {func(ws *webserverv1.WebServer) { ws.Status.NodePort++ }, false},
		"nothing serves any more":  {func(ws *webserverv1.WebServer) { ws.Status.Conditions[available].Status = metav1.ConditionFalse }, true},
		"something is in the way":  {func(ws *webserverv1.WebServer) { ws.Status.Conditions[degraded].Status = metav1.ConditionTrue }, true},
		"another thing in the way": {func(ws *webserverv1.WebServer) { ws.Status.Conditions[degraded].Reason = workload.ReasonRejected }, true},
	} {
		t.Run(name, func(t *testing.T) {
			after := rollingOut()
			test.change(after)
			if got := immediate(rollingOut(), after); got != test.immediate {
				t.Errorf("immediate is %t", got)
			}
		})
	}

	unknown := rollingOut() // somebody has removed its conditions
	unknown.Status.Conditions = nil
	if !immediate(unknown, rollingOut()) {
		t.Error("conditions that nobody knows must not wait")
	}
	if immediate(complete(), rollingOut()) {
		t.Error("a rollout that begins must wait")
	}
	unavailable := rollingOut()
	unavailable.Status.Conditions[available].Status = metav1.ConditionFalse
	fewer := unavailable.DeepCopy()
	fewer.Status.Replicas--
	if immediate(unavailable, fewer) {
		t.Error("what was not available must wait for the burst to be over")
	}
	if immediate(unavailable, rollingOut()) {
		t.Error("more ready Pods must wait for the burst to be over")
	}
}

func TestARecoveryFitsIntoAnEventWhateverWasAmiss(t *testing.T) {
	recorder := events.NewFakeRecorder(1)
	r := reconciler[*webserverv1.WebServer]{events: recorder}
	r.recordHealth(withConditions(newCondition(workload.Degraded, true, workload.ReasonRejected, "%s", strings.Repeat("x", 2*maxEventNote))),
		withConditions(newCondition(workload.Degraded, false, workload.ReasonAsExpected, "nothing needs attention")))
	note, _ := strings.CutPrefix(<-recorder.Events, "Normal Recovered ")
	if len(note) > maxEventNote || !strings.HasPrefix(note, "no more Rejected: xxx") {
		t.Errorf("%d bytes: %s", len(note), note)
	}
}

func TestAnEventTellsWhenAResourceDegradesForAReasonAndRecovers(t *testing.T) {
	condition := func(status bool, reason, message string) metav1.Condition {
		return newCondition(workload.Degraded, status, reason, "%s", message)
	}
	fine := condition(false, workload.ReasonAsExpected, "nothing")
	refused, failing := condition(true, workload.ReasonRejected, "denied"), condition(true, workload.ReasonPodsFailing, "crashing")
	for name, test := range map[string]struct {
		was  []metav1.Condition
		is   metav1.Condition
		want string
	}{
		"it degrades":               {[]metav1.Condition{fine}, refused, "Warning Rejected Reconcile denied"},
		"it begins degraded":        {nil, refused, "Warning Rejected Reconcile denied"},
		"it does for another":       {[]metav1.Condition{failing}, refused, "Warning Rejected Reconcile denied"},
		"it still does":             {[]metav1.Condition{refused}, refused, ""},
		"it does in other words":    {[]metav1.Condition{condition(true, workload.ReasonRejected, "refused")}, refused, ""},
		"it recovers":               {[]metav1.Condition{refused}, fine, "Normal Recovered Reconcile no more Rejected: denied"},
		"it is fine":                {[]metav1.Condition{fine}, fine, ""},
		"it is fine from the start": {nil, fine, ""},
	} {
		t.Run(name, func(t *testing.T) {
			told := events.NewFakeRecorder(1)
			told.Verbose = true
			r := reconciler[*webserverv1.WebServer]{events: told}
			r.recordHealth(withConditions(test.was...), withConditions(test.is))
			got := ""
			if len(told.Events) > 0 {
				got, _, _ = strings.Cut(<-told.Events, " involvedObject{")
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func withConditions(conditions ...metav1.Condition) *webserverv1.WebServer {
	ws := storedWebServer()
	ws.Status.Conditions = conditions
	return ws
}

func TestARefusalIsKeptWhileTheNextWriteFailsOtherwise(t *testing.T) {
	refused := metav1.Condition{Type: workload.Degraded, Status: metav1.ConditionTrue, Reason: workload.ReasonRejected, Message: "denied", ObservedGeneration: 1}
	contested := metav1.Condition{Type: workload.Degraded, Status: metav1.ConditionTrue, Reason: workload.ReasonContested}
	fine := metav1.Condition{Type: workload.Degraded, Status: metav1.ConditionFalse, Reason: workload.ReasonAsExpected, ObservedGeneration: 2}
	failing := metav1.Condition{Type: workload.Degraded, Status: metav1.ConditionTrue, Reason: workload.ReasonPodsFailing, ObservedGeneration: 2}
	retrying, unseen, waiting := &blocker{reason: workload.ReasonRetrying}, &blocker{reason: workload.ReasonRetrying, written: "2"}, &blocker{reason: workload.ReasonWaitingForDeletion}
	for name, test := range map[string]struct {
		was      []metav1.Condition
		is       metav1.Condition
		blockers []*blocker
		want     string
	}{
		"it is retried":            {[]metav1.Condition{refused}, fine, []*blocker{waiting, retrying}, workload.ReasonRejected},
		"it is accepted":           {[]metav1.Condition{refused}, fine, []*blocker{unseen}, workload.ReasonAsExpected},
		"something else is in way": {[]metav1.Condition{refused}, fine, []*blocker{waiting}, workload.ReasonAsExpected},
		"nothing is in the way":    {[]metav1.Condition{refused}, fine, nil, workload.ReasonAsExpected},
		"something else was wrong": {[]metav1.Condition{contested}, fine, []*blocker{retrying}, workload.ReasonAsExpected},
		"something else is wrong":  {[]metav1.Condition{refused}, failing, []*blocker{retrying}, workload.ReasonPodsFailing},
		"nothing was told before":  {nil, fine, []*blocker{retrying}, workload.ReasonAsExpected},
	} {
		before, after := &workload.Status{Conditions: test.was}, &workload.Status{Conditions: []metav1.Condition{test.is}}
		keepRejected(before, after, test.blockers)
		if got := after.Conditions[0]; got.Reason != test.want || got.ObservedGeneration != 2 {
			t.Errorf("%s: told is %+v", name, got)
		}
	}
}
