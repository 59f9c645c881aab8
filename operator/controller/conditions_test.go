package controller

import (
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operator-assay/assay/operator/api/workload"
)

func TestConditions(t *testing.T) {
	taken := problem{reason: workload.ReasonNotControlled, message: "name is taken"}
	rejected := problem{reason: workload.ReasonRejected, message: "rejected"}
	retried := problem{reason: workload.ReasonRollingOut, message: "no response", waits: true}
	waiting := problem{reason: workload.ReasonWaitingForDeletion, message: "being deleted", waits: true}
	half := rolledOut(3)
	half.Status.UpdatedReplicas = 2
	for name, test := range map[string]struct {
		observed observation
		// The expected status, reason and message of each condition. The message is optional.
		available, progressing, degraded string
	}{
		"the Deployment does not exist yet": {observation{desired: 3},
			"False NoPodReady: 0 of 3 desired Pods are ready", "True RollingOut: the spec is being applied; ready Pods: 0, desired: 3", "False AsExpected: nothing needs attention"},
		"the Deployment reports ready Pods that the cache does not contain yet": {observation{desired: 3, deployment: rolledOut(3), pods: pods("ready", "ready")},
			"True PodsReady", "True RollingOut", "False AsExpected"},
		"the Deployment's status describes an older spec": {observation{desired: 3, deployment: outdated(rolledOut(3)), pods: pods("ready", "ready", "ready")},
			"True PodsReady", "True RollingOut: the spec is being applied; ready Pods: 3, desired: 3", "False AsExpected"},
		"the rollout is complete": {observation{desired: 3, deployment: rolledOut(3), pods: pods("ready", "ready", "ready")},
			"True PodsReady: ready Pods: 3, desired: 3", "False Complete: 3 of 3 Pods are up to date and ready", "False AsExpected: nothing needs attention"},
		"scaled to zero": {observation{desired: 0, deployment: rolledOut(0)},
			"False ScaledToZero: scaled to zero: request at least 1 Pod in the spec to serve requests", "False Complete: 0 of 0 Pods are up to date and ready", "False AsExpected"},
		"scaled to zero, and a Pod is still ready": {observation{desired: 0, deployment: rolledOut(0), pods: pods("ready")}, "True PodsReady", "True RollingOut", "False AsExpected"},
		"the Deployment's name is taken": {observation{desired: 3, problems: []problem{taken}, blocked: true},
			"False NoPodReady", "False Blocked: see the condition Degraded", "True NotControlled: name is taken"},
		"the Service's name is taken, and the Pods are ready": {observation{desired: 1, deployment: rolledOut(1), pods: pods("ready"), problems: []problem{taken}},
			"True PodsReady", "False Blocked", "True NotControlled"},
		"the Deployment is rejected, and the old Pods are ready": {observation{desired: 2, deployment: rolledOut(1), pods: pods("ready"), problems: []problem{rejected}, blocked: true},
			"True PodsReady", "False Blocked", "True Rejected"},
		"a write failed and is retried": {observation{desired: 1, deployment: rolledOut(1), pods: pods("ready"), problems: []problem{retried}},
			"True PodsReady", "True RollingOut: no response", "False AsExpected"},
		"the previous Deployment is being deleted": {observation{desired: 1, problems: []problem{waiting}}, "False NoPodReady", "True WaitingForDeletion", "False AsExpected"},
		"Pods cannot be created, and a Pod is unschedulable": {observation{desired: 3, deployment: with(rolledOut(1), appsv1.DeploymentReplicaFailure, "FailedCreate"), pods: pods("ready", "unschedulable")},
			"True PodsReady", "True RollingOut: 1 of 3 Pods are up to date, 1 are ready", "True PodCreationFailed: FailedCreate; Pod pod-1: Unschedulable: "},
		"the rollout is stuck": {observation{desired: 2, deployment: with(rolledOut(1), appsv1.DeploymentProgressing, "ProgressDeadlineExceeded"), pods: pods("ready", "waiting")},
			"True PodsReady", "False ProgressDeadlineExceeded: ProgressDeadlineExceeded", "True ProgressDeadlineExceeded: ProgressDeadlineExceeded"},
		"the rollout of an older spec is stuck": {observation{desired: 2, deployment: outdated(with(rolledOut(1), appsv1.DeploymentProgressing, "ProgressDeadlineExceeded")), pods: pods("ready", "waiting")},
			"True PodsReady", "True RollingOut", "True ProgressDeadlineExceeded"},
		"the rollout was stuck, and the Deployment does not report its recovery yet": {observation{desired: 1, deployment: with(rolledOut(1), appsv1.DeploymentProgressing, "ProgressDeadlineExceeded"), pods: pods("ready")},
			"True PodsReady", "False Complete", "False AsExpected"},
		"a rollout is half complete": {observation{desired: 4, deployment: half, pods: pods("ready", "waiting", "waiting")},
			"True PodsReady: ready Pods: 1, desired: 4", "True RollingOut: 2 of 4 Pods are up to date, 1 are ready", "False AsExpected"},
		"the second of three problems is NotControlled": {observation{desired: 2, deployment: rolledOut(1), pods: pods("ready"), problems: []problem{rejected, taken, rejected}, blocked: true},
			"True PodsReady", "False Blocked", "True NotControlled: name is taken; rejected; rejected"},
		"one child is blocked, and the write of the other is retried": {observation{desired: 1, problems: []problem{taken, retried}},
			"False NoPodReady", "True RollingOut: no response", "True NotControlled: name is taken"},
		"Pods can be created again": {observation{desired: 2, deployment: recovered(with(rolledOut(1), appsv1.DeploymentReplicaFailure, "FailedCreate")), pods: pods("ready")},
			"True PodsReady", "True RollingOut", "False AsExpected"},
		"the Deployment reports progress": {observation{desired: 2, deployment: with(rolledOut(1), appsv1.DeploymentProgressing, "ReplicaSetUpdated"), pods: pods("ready")},
			"True PodsReady", "True RollingOut", "False AsExpected"},
		"two Pods fail": {observation{desired: 2, deployment: rolledOut(1), pods: pods("unschedulable", "unschedulable")},
			"False NoPodReady", "True RollingOut", "True PodsFailing: Pod pod-0: Unschedulable: ; Pod pod-1: Unschedulable: "},
	} {
		t.Run(name, func(t *testing.T) {
			expect := func(c metav1.Condition, want string) {
				t.Helper()
				if got := fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message); !strings.HasPrefix(got, want) {
					t.Errorf("%s: got %s, want %s", c.Type, got, want)
				}
			}
			expect(test.observed.available(), test.available)
			expect(test.observed.progressing(), test.progressing)
			expect(test.observed.degraded(), test.degraded)
		})
	}
}

// The Deployment's status and its Pods come from different watches, so they may disagree.
func TestRolloutIsCompleteWhenAllCountsAgree(t *testing.T) {
	for name, change := range map[string]func(*observation){
		"an old Pod still exists":    func(o *observation) { o.deployment.Status.Replicas++ },
		"a Pod has the old template": func(o *observation) { o.deployment.Status.UpdatedReplicas-- },
		"a Pod is not ready":         func(o *observation) { o.pods = pods("ready", "waiting") },
		"a surplus Pod still exists": func(o *observation) { o.pods = pods("ready", "ready", "waiting") },
	} {
		o := &observation{desired: 2, deployment: rolledOut(2), pods: pods("ready", "ready")}
		if !o.complete() {
			t.Fatal("got complete: false before the change")
		}
		if change(o); o.complete() {
			t.Errorf("%s: got complete: true after the change", name)
		}
	}
}

// recovered sets the Deployment's first condition to False.
func recovered(deployment *appsv1.Deployment) *appsv1.Deployment {
	deployment.Status.Conditions[0].Status = corev1.ConditionFalse
	return deployment
}

func rolledOut(replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Generation: 2},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: replicas, UpdatedReplicas: replicas},
	}
}

func outdated(deployment *appsv1.Deployment) *appsv1.Deployment {
	deployment.Status.ObservedGeneration--
	return deployment
}

func with(deployment *appsv1.Deployment, conditionType appsv1.DeploymentConditionType, reason string) *appsv1.Deployment {
	deployment.Status.Conditions = []appsv1.DeploymentCondition{{Type: conditionType, Status: corev1.ConditionTrue, Reason: reason, Message: reason}}
	return deployment
}

func pods(states ...string) []corev1.Pod {
	var pods []corev1.Pod
	for i, state := range states {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pod-%d", i)}}
		switch state {
		case "ready":
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		case "waiting":
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionFalse}}
		case "unschedulable":
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		}
		pods = append(pods, pod)
	}
	return pods
}
