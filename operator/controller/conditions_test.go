package controller

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operator-assay/assay/operator/api/workload"
)

func TestConditionsSayWhatIsSeen(t *testing.T) {
	taken := &obstacle{child: "Service", reason: workload.ReasonNotControlled, message: "taken"}
	refused := &obstacle{child: "Deployment", reason: workload.ReasonRejected, message: "refused"}
	silent := &obstacle{child: "Service", reason: workload.ReasonRetrying, message: "no answer"}
	waiting := &obstacle{child: "Deployment", reason: workload.ReasonWaitingForDeletion, message: "going"}
	for name, test := range map[string]struct {
		seen                             sight
		available, progressing, degraded string
	}{
		"nothing yet": {
			sight{desired: 3, deployment: rolledOut(0)},
			"False NoPodReady", "True RollingOut", "False AsExpected"},
		"the first Pod is ready": {
			sight{desired: 3, deployment: rolledOut(1), pods: pods("ready", "waiting", "waiting")},
			"True PodsReady", "True RollingOut", "False AsExpected"},
		"all Pods are ready, but the Deployment has not said so": {
			sight{desired: 3, deployment: rolledOut(2), pods: pods("ready", "ready", "ready")},
			"True PodsReady", "True RollingOut", "False AsExpected"},
		"the Deployment says so, but the Pods are not seen": {
			sight{desired: 3, deployment: rolledOut(3), pods: pods("ready", "ready")},
			"True PodsReady", "True RollingOut", "False AsExpected"},
		"the Deployment speaks of an older spec": {
			sight{desired: 3, deployment: outdated(rolledOut(3)), pods: pods("ready", "ready", "ready")},
			"True PodsReady", "True RollingOut", "False AsExpected"},
		"all is done": {
			sight{desired: 3, deployment: rolledOut(3), pods: pods("ready", "ready", "ready")},
			"True PodsReady", "False Complete", "False AsExpected"},
		"none is asked for": {
			sight{desired: 0, deployment: rolledOut(0)},
			"False ScaledToZero", "False Complete", "False AsExpected"},
		"none is asked for, and one still serves": {
			sight{desired: 0, deployment: rolledOut(0), pods: pods("ready")},
			"True PodsReady", "True RollingOut", "False AsExpected"},
		"the Deployment's name is taken": {
			sight{desired: 3, obstacles: []*obstacle{taken}},
			"False NoPodReady", "False Blocked", "True NotControlled"},
		"the Service's name is taken, the Pods are ready": {
			sight{desired: 1, deployment: rolledOut(1), pods: pods("ready"), obstacles: []*obstacle{taken}},
			"True PodsReady", "False Blocked", "True NotControlled"},
		"the Deployment is refused, the Pods of before are ready": {
			sight{desired: 2, deployment: rolledOut(1), pods: pods("ready"), obstacles: []*obstacle{refused}},
			"True PodsReady", "False Blocked", "True Rejected"},
		"the API server did not answer": {
			sight{desired: 1, deployment: rolledOut(1), pods: pods("ready"), obstacles: []*obstacle{silent}},
			"True PodsReady", "True Retrying", "False AsExpected"},
		"a predecessor's Deployment is going": {
			sight{desired: 1, obstacles: []*obstacle{waiting}},
			"False NoPodReady", "True WaitingForDeletion", "False AsExpected"},
		"Pods cannot be created": {
			sight{desired: 3, deployment: with(rolledOut(1), appsv1.DeploymentReplicaFailure, "FailedCreate"), pods: pods("ready")},
			"True PodsReady", "True RollingOut", "True PodCreationFailed"},
		"a Pod keeps crashing": {
			sight{desired: 2, deployment: rolledOut(1), pods: pods("ready", "crashing")},
			"True PodsReady", "True RollingOut", "True PodsFailing"},
		"the rollout is stuck": {
			sight{desired: 2, deployment: with(rolledOut(1), appsv1.DeploymentProgressing, "ProgressDeadlineExceeded"), pods: pods("ready", "waiting")},
			"True PodsReady", "False ProgressDeadlineExceeded", "True ProgressDeadlineExceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			expect := func(c metav1.Condition, want string) {
				t.Helper()
				if got := fmt.Sprintf("%s %s", c.Status, c.Reason); got != want {
					t.Errorf("%s is %s (%s), want %s", c.Type, got, c.Message, want)
				}
			}
			expect(test.seen.available(), test.available)
			expect(test.seen.progressing(), test.progressing)
			expect(test.seen.degraded(), test.degraded)
		})
	}
}

// rolledOut is a Deployment whose status counts so many Pods, all of them up to date and available.
func rolledOut(replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Generation: 2},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: replicas,
			UpdatedReplicas: replicas, AvailableReplicas: replicas},
	}
}

func outdated(deployment *appsv1.Deployment) *appsv1.Deployment {
	deployment.Status.ObservedGeneration--
	return deployment
}

func with(deployment *appsv1.Deployment, kind appsv1.DeploymentConditionType, reason string) *appsv1.Deployment {
	deployment.Status.Conditions = []appsv1.DeploymentCondition{{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: reason}}
	return deployment
}

// pods are Pods in the given states.
func pods(states ...string) []corev1.Pod {
	var pods []corev1.Pod
	for i, state := range states {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pod-%d", i)}}
		switch state {
		case "ready":
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		case "crashing":
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}}}
		}
		pods = append(pods, pod)
	}
	return pods
}
