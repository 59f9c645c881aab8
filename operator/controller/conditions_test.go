package controller

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operator-assay/assay/operator/api/workload"
)

func TestConditionsSayWhatIsObserved(t *testing.T) {
	taken := &blocker{child: "Service", reason: workload.ReasonNotControlled, message: "taken", needsUser: true}
	refused := &blocker{child: "Deployment", reason: workload.ReasonRejected, message: "refused", needsUser: true}
	silent := &blocker{child: "Service", reason: workload.ReasonRetrying, message: "no answer"}
	waiting := &blocker{child: "Deployment", reason: workload.ReasonWaitingForDeletion, message: "going"}
	for name, test := range map[string]struct {
		observed                         observed
		available, progressing, degraded string
	}{
		"the Deployment is about to be created": {
			observed{desired: 3},
			"False NoPodReady", "True RollingOut", "False AsExpected"},
		"somebody paused the rollout": {
			observed{desired: 2, deployment: paused(rolledOut(1)), pods: pods("ready")},
			"True PodsReady", "False Paused", "True Paused"},
		"somebody paused what is complete": {
			observed{desired: 1, deployment: paused(rolledOut(1)), pods: pods("ready")},
			"True PodsReady", "False Complete", "False AsExpected"},
		"nothing can schedule a Pod": {
			observed{desired: 2, deployment: rolledOut(1), pods: pods("ready", "unschedulable")},
			"True PodsReady", "True RollingOut", "True PodsFailing"},
		"a container crashed a week ago and is not ready now": {
			observed{desired: 2, deployment: rolledOut(1), pods: pods("ready", "crashed a week ago")},
			"True PodsReady", "True RollingOut", "False AsExpected"},
		"a container crashed just now": {
			observed{desired: 2, deployment: rolledOut(1), pods: pods("ready", "crashed")},
			"True PodsReady", "True RollingOut", "True PodsFailing"},
		"nothing yet": {
			observed{desired: 3, deployment: rolledOut(0)},
			"False NoPodReady", "True RollingOut", "False AsExpected"},
		"the first Pod is ready": {
			observed{desired: 3, deployment: rolledOut(1), pods: pods("ready", "waiting", "waiting")},
			"True PodsReady", "True RollingOut", "False AsExpected"},
		"all Pods are ready, but the Deployment has not said so": {
			observed{desired: 3, deployment: rolledOut(2), pods: pods("ready", "ready", "ready")},
			"True PodsReady", "True RollingOut", "False AsExpected"},
		"the Deployment says so, but the Pods do not show it": {
			observed{desired: 3, deployment: rolledOut(3), pods: pods("ready", "ready")},
			"True PodsReady", "True RollingOut", "False AsExpected"},
		"the Deployment speaks of an older spec": {
			observed{desired: 3, deployment: outdated(rolledOut(3)), pods: pods("ready", "ready", "ready")},
			"True PodsReady", "True RollingOut", "False AsExpected"},
		"all is done": {
			observed{desired: 3, deployment: rolledOut(3), pods: pods("ready", "ready", "ready")},
			"True PodsReady", "False Complete", "False AsExpected"},
		"none is asked for": {
			observed{desired: 0, deployment: rolledOut(0)},
			"False ScaledToZero", "False Complete", "False AsExpected"},
		"none is asked for, and one still serves": {
			observed{desired: 0, deployment: rolledOut(0), pods: pods("ready")},
			"True PodsReady", "True RollingOut", "False AsExpected"},
		"the Deployment's name is taken": {
			observed{desired: 3, blockers: []*blocker{taken}},
			"False NoPodReady", "False Blocked", "True NotControlled"},
		"the Service's name is taken, the Pods are ready": {
			observed{desired: 1, deployment: rolledOut(1), pods: pods("ready"), blockers: []*blocker{taken}},
			"True PodsReady", "False Blocked", "True NotControlled"},
		"the Deployment is refused, the Pods of before are ready": {
			observed{desired: 2, deployment: rolledOut(1), pods: pods("ready"), blockers: []*blocker{refused}},
			"True PodsReady", "False Blocked", "True Rejected"},
		"the API server did not answer": {
			observed{desired: 1, deployment: rolledOut(1), pods: pods("ready"), blockers: []*blocker{silent}},
			"True PodsReady", "True Retrying", "False AsExpected"},
		"a predecessor's Deployment is going": {
			observed{desired: 1, blockers: []*blocker{waiting}},
			"False NoPodReady", "True WaitingForDeletion", "False AsExpected"},
		"Pods cannot be created": {
			observed{desired: 3, deployment: with(rolledOut(1), appsv1.DeploymentReplicaFailure, "FailedCreate"), pods: pods("ready")},
			"True PodsReady", "True RollingOut", "True PodCreationFailed"},
		"a Pod keeps crashing": {
			observed{desired: 2, deployment: rolledOut(1), pods: pods("ready", "crashing")},
			"True PodsReady", "True RollingOut", "True PodsFailing"},
		"the rollout is stuck": {
			observed{desired: 2, deployment: with(rolledOut(1), appsv1.DeploymentProgressing, "ProgressDeadlineExceeded"), pods: pods("ready", "waiting")},
			"True PodsReady", "False ProgressDeadlineExceeded", "True ProgressDeadlineExceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			expect := func(c metav1.Condition, want string) {
				t.Helper()
				if got := fmt.Sprintf("%s %s", c.Status, c.Reason); got != want {
					t.Errorf("%s is %s (%s), want %s", c.Type, got, c.Message, want)
				}
			}
			expect(test.observed.available(), test.available)
			expect(test.observed.progressing(), test.progressing)
			expect(test.observed.degraded(), test.degraded)
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

func paused(deployment *appsv1.Deployment) *appsv1.Deployment {
	deployment.Spec.Paused = true
	return deployment
}

func outdated(deployment *appsv1.Deployment) *appsv1.Deployment {
	deployment.Status.ObservedGeneration--
	return deployment
}

func with(deployment *appsv1.Deployment, conditionType appsv1.DeploymentConditionType, reason string) *appsv1.Deployment {
	deployment.Status.Conditions = []appsv1.DeploymentCondition{{Type: conditionType, Status: corev1.ConditionTrue, Reason: reason, Message: reason}}
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
		case "unschedulable":
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		case "crashed":
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{crashed(0)}
		case "crashed a week ago":
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{crashed(7 * 24 * time.Hour)}
		}
		pods = append(pods, pod)
	}
	return pods
}

// crashed is a container that runs again since it crashed so long ago, and is not ready.
func crashed(ago time.Duration) corev1.ContainerStatus {
	return corev1.ContainerStatus{LastTerminationState: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.NewTime(time.Now().Add(-ago))}}}
}
