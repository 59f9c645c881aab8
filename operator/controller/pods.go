package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// activePods returns, sorted by name, the Pods that a Deployment owns through its ReplicaSets and
// that are neither terminating nor finished. Labels alone make no Pod its own.
func activePods(ctx context.Context, reader client.Reader, deployment *appsv1.Deployment) ([]corev1.Pod, error) {
	sets := &appsv1.ReplicaSetList{}
	if err := reader.List(ctx, sets, controlledBy(deployment)...); err != nil {
		return nil, err
	}
	var active []corev1.Pod
	for i := range sets.Items {
		pods := &corev1.PodList{}
		if err := reader.List(ctx, pods, controlledBy(&sets.Items[i])...); err != nil {
			return nil, err
		}
		active = append(active, pods.Items...)
	}
	active = slices.DeleteFunc(active, func(pod corev1.Pod) bool {
		return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	})
	slices.SortFunc(active, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return active, nil
}

func controlledBy(owner client.Object) []client.ListOption {
	return []client.ListOption{
		client.InNamespace(owner.GetNamespace()),
		client.MatchingFields{controllerUID: string(owner.GetUID())},
		client.DisableReadYourWritesConsistency, // nothing writes them here
		client.UnsafeDisableDeepCopy,            // or changes them
	}
}

func podReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// terminalWaitingReasons are further reasons of waiting containers that seldom pass by themselves.
var terminalWaitingReasons = []string{
	"CreateContainerConfigError", "CreateContainerError", "ErrImageNeverPull", "InvalidImageName", "RunContainerError",
}

// failingPods says of each Pod that cannot be scheduled, and of each container that cannot start or keeps
// failing, what the scheduler and the kubelet report.
func failingPods(pods []corev1.Pod, now time.Time) []string {
	var failing []string
	for _, pod := range pods {
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && condition.Reason == corev1.PodReasonUnschedulable {
				failing = append(failing, fmt.Sprintf("Pod %s: Unschedulable: %s", pod.Name, condition.Message))
			}
		}
		for _, container := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if reason := failureOf(container, now); reason != "" {
				failing = append(failing, fmt.Sprintf("Pod %s: %s", pod.Name, reason))
			}
		}
	}
	return failing
}

// failureOf says what keeps a container from running, in the same words as long as that is the same: a
// kubelet alternates between trying and backing off, longer each time.
func failureOf(container corev1.ContainerStatus, now time.Time) string {
	waiting, last := container.State.Waiting, container.LastTerminationState.Terminated
	crashed := !container.Ready && last != nil && last.ExitCode != 0 && now.Sub(last.FinishedAt.Time) < crashLoopMemory
	switch {
	case waiting != nil && slices.Contains([]string{"ErrImagePull", "ImagePullBackOff"}, waiting.Reason):
		return fmt.Sprintf("ImagePullBackOff: image %s cannot be pulled", container.Image)
	case crashed || waiting != nil && waiting.Reason == "CrashLoopBackOff":
		code := int32(0)
		if last != nil {
			code = last.ExitCode
		}
		return fmt.Sprintf("CrashLoopBackOff: container %s keeps ending, last with exit code %d", container.Name, code)
	case waiting != nil && slices.Contains(terminalWaitingReasons, waiting.Reason):
		return fmt.Sprintf("%s: %s", waiting.Reason, waiting.Message)
	default:
		return ""
	}
}
