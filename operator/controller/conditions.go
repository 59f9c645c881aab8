package controller

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operator-assay/assay/operator/api/workload"
)

// sight is what was seen of a resource: what conditions are judged by.
type sight struct {
	desired    int32
	deployment *appsv1.Deployment // nil when there is none of this resource's
	pods       []corev1.Pod       // those that live, sorted by name
	obstacles  []*obstacle
}

// ready is how many Pods are ready to serve.
func (s *sight) ready() int32 {
	var ready int32
	for i := range s.pods {
		if podReady(&s.pods[i]) {
			ready++
		}
	}
	return ready
}

// available is True while at least one Pod serves, however many the spec asks for.
func (s *sight) available() metav1.Condition {
	ready := s.ready()
	switch {
	case ready > 0:
		return condition(workload.Available, true, workload.ReasonPodsReady, "%d Pods are ready, of %d that the spec asks for", ready, s.desired)
	case s.desired == 0:
		return condition(workload.Available, false, workload.ReasonScaledToZero, "the spec asks for 0 Pods: ask for at least 1 to serve again")
	default:
		return condition(workload.Available, false, workload.ReasonNoPodReady, "no Pod is ready, of %d that the spec asks for", s.desired)
	}
}

// progressing is False only when the Deployment and the Pods agree that all is as the spec asks, or
// when nothing will move before an obstacle goes.
func (s *sight) progressing() metav1.Condition {
	blocked := s.deployment == nil
	for _, obstacle := range s.obstacles {
		if !obstacle.lasting() {
			return condition(workload.Progressing, true, obstacle.reason, "%s", obstacle.message)
		}
		blocked = blocked || obstacle.child == "Deployment"
	}
	switch {
	case s.complete() && len(s.obstacles) == 0:
		return condition(workload.Progressing, false, workload.ReasonComplete, "%d of %d Pods are up to date and ready", s.desired, s.desired)
	case s.complete(), blocked:
		return condition(workload.Progressing, false, workload.ReasonBlocked, "blocked: condition Degraded says by what")
	case s.deadlineExceeded() != nil:
		return condition(workload.Progressing, false, workload.ReasonProgressDeadlineExceeded, "%s", s.deadlineExceeded().Message)
	default:
		return condition(workload.Progressing, true, workload.ReasonRollingOut, "%d of %d Pods are up to date, %d are ready",
			s.deployment.Status.UpdatedReplicas, s.desired, s.ready())
	}
}

// degraded is True while something stands in the way that a person may have to remove.
func (s *sight) degraded() metav1.Condition {
	var lasting []*obstacle
	for _, obstacle := range s.obstacles {
		if obstacle.lasting() {
			lasting = append(lasting, obstacle)
		}
	}
	if failure := s.deploymentCondition(appsv1.DeploymentReplicaFailure); failure != nil && failure.Status == corev1.ConditionTrue {
		lasting = append(lasting, &obstacle{reason: workload.ReasonPodCreationFailed, message: failure.Message})
	}
	if failing := failingPods(s.pods); len(failing) > 0 {
		lasting = append(lasting, &obstacle{reason: workload.ReasonPodsFailing, message: strings.Join(failing, "; ")})
	}
	if exceeded := s.deadlineExceeded(); exceeded != nil {
		lasting = append(lasting, &obstacle{reason: workload.ReasonProgressDeadlineExceeded, message: exceeded.Message})
	}
	if len(lasting) == 0 {
		return condition(workload.Degraded, false, workload.ReasonAsExpected, "nothing stands in the way")
	}
	messages := make([]string, len(lasting))
	for i, obstacle := range lasting {
		messages[i] = obstacle.message
	}
	return condition(workload.Degraded, true, lasting[0].reason, "%s", strings.Join(messages, "; "))
}

// complete tells that the Deployment's controller has done all it was asked and that the Pods show it.
func (s *sight) complete() bool {
	if s.deployment == nil {
		return false
	}
	status := s.deployment.Status
	return status.ObservedGeneration >= s.deployment.Generation &&
		status.Replicas == s.desired && status.UpdatedReplicas == s.desired && status.AvailableReplicas == s.desired &&
		int32(len(s.pods)) == s.desired && s.ready() == s.desired
}

// deadlineExceeded is the Deployment's own word that its rollout is stuck.
func (s *sight) deadlineExceeded() *appsv1.DeploymentCondition {
	if progressing := s.deploymentCondition(appsv1.DeploymentProgressing); progressing != nil && progressing.Reason == "ProgressDeadlineExceeded" {
		return progressing
	}
	return nil
}

func (s *sight) deploymentCondition(kind appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	if s.deployment == nil {
		return nil
	}
	i := slices.IndexFunc(s.deployment.Status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &s.deployment.Status.Conditions[i]
}

func condition(kind string, status bool, reason, message string, args ...any) metav1.Condition {
	c := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: truncate(fmt.Sprintf(message, args...))}
	if status {
		c.Status = metav1.ConditionTrue
	}
	return c
}
