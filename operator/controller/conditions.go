package controller

import (
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operator-assay/assay/operator/api/workload"
)

// observed is what is known of a resource: what its conditions follow from.
type observed struct {
	desired    int32
	deployment *appsv1.Deployment // nil when the resource has none
	forgotten  bool               // whether the Deployment's status was cleared, because it describes an older spec
	pods       []corev1.Pod       // the active ones, sorted by name
	blockers   []*blocker
}

// ready is how many Pods are ready to serve.
func (o *observed) ready() int32 {
	var ready int32
	for i := range o.pods {
		if podReady(&o.pods[i]) {
			ready++
		}
	}
	return ready
}

// available is True while at least one Pod serves, however many the spec asks for.
func (o *observed) available() metav1.Condition {
	ready := o.ready()
	switch {
	case ready > 0:
		return newCondition(workload.Available, true, workload.ReasonPodsReady, "%d Pods are ready, of %d that the spec asks for", ready, o.desired)
	case o.desired == 0:
		return newCondition(workload.Available, false, workload.ReasonScaledToZero, "the spec asks for 0 Pods: ask for at least 1 to serve again")
	default:
		return newCondition(workload.Available, false, workload.ReasonNoPodReady, "no Pod is ready, of %d that the spec asks for", o.desired)
	}
}

// progressing is False only when the Deployment and the Pods agree that all is as the spec asks, or
// when nothing will move before a blocker is gone.
func (o *observed) progressing() metav1.Condition {
	blocked := false
	for _, blocker := range o.blockers {
		if !blocker.needsUser {
			return newCondition(workload.Progressing, true, blocker.reason, "%s", blocker.message)
		}
		blocked = blocked || o.deployment == nil || blocker.child == "Deployment"
	}
	switch {
	case o.complete() && len(o.blockers) == 0:
		return newCondition(workload.Progressing, false, workload.ReasonComplete, "%d of %d Pods are up to date and ready", o.desired, o.desired)
	case o.complete(), blocked:
		return newCondition(workload.Progressing, false, workload.ReasonBlocked, "blocked: condition Degraded says by what")
	case !o.forgotten && o.deadlineExceeded() != nil:
		return newCondition(workload.Progressing, false, workload.ReasonProgressDeadlineExceeded, "%s", o.deadlineExceeded().Message)
	case o.paused():
		return newCondition(workload.Progressing, false, workload.ReasonPaused, "the rollout is paused")
	default:
		var updated int32
		if o.deployment != nil {
			updated = o.deployment.Status.UpdatedReplicas
		}
		return newCondition(workload.Progressing, true, workload.ReasonRollingOut, "%d of %d Pods are up to date, %d are ready", updated, o.desired, o.ready())
	}
}

// degraded is True while something is wrong that a person may have to act on.
func (o *observed) degraded() metav1.Condition {
	var problems []*blocker
	for _, blocker := range o.blockers {
		if blocker.needsUser {
			problems = append(problems, blocker)
		}
	}
	if failure := o.deploymentCondition(appsv1.DeploymentReplicaFailure); failure != nil && failure.Status == corev1.ConditionTrue {
		problems = append(problems, &blocker{reason: workload.ReasonPodCreationFailed, message: failure.Message})
	}
	if failing := failingPods(o.pods, time.Now()); len(failing) > 0 {
		problems = append(problems, &blocker{reason: workload.ReasonPodsFailing, message: strings.Join(failing, "; ")})
	}
	if exceeded := o.deadlineExceeded(); exceeded != nil {
		problems = append(problems, &blocker{reason: workload.ReasonProgressDeadlineExceeded, message: exceeded.Message})
	}
	if o.paused() {
		problems = append(problems, &blocker{reason: workload.ReasonPaused,
			message: fmt.Sprintf("the rollout of Deployment %q is paused: resume it by `kubectl rollout resume`", o.deployment.Name)})
	}
	if len(problems) == 0 {
		return newCondition(workload.Degraded, false, workload.ReasonAsExpected, "nothing needs attention")
	}
	messages := make([]string, len(problems))
	for i, problem := range problems {
		messages[i] = problem.message
	}
	return newCondition(workload.Degraded, true, problems[0].reason, "%s", strings.Join(messages, "; "))
}

// again is when to look again at Pods that fail: that a kubelet forgets a crash is no event.
func (o *observed) again() time.Duration {
	if len(failingPods(o.pods, time.Now())) > 0 {
		return crashLoopMemory
	}
	return 0
}

// paused reports whether somebody paused a rollout that is not complete.
func (o *observed) paused() bool {
	return o.deployment != nil && o.deployment.Spec.Paused && !o.complete()
}

// complete reports that the Deployment's controller has done all it was asked and that the Pods show it.
func (o *observed) complete() bool {
	if o.deployment == nil {
		return false
	}
	status := o.deployment.Status
	return status.ObservedGeneration >= o.deployment.Generation &&
		status.Replicas == o.desired && status.UpdatedReplicas == o.desired && status.AvailableReplicas == o.desired &&
		int32(len(o.pods)) == o.desired && o.ready() == o.desired
}

// deadlineExceeded is the Deployment's own word that its rollout is stuck.
func (o *observed) deadlineExceeded() *appsv1.DeploymentCondition {
	if progressing := o.deploymentCondition(appsv1.DeploymentProgressing); progressing != nil && progressing.Reason == "ProgressDeadlineExceeded" {
		return progressing
	}
	return nil
}

func (o *observed) deploymentCondition(conditionType appsv1.DeploymentConditionType) *appsv1.DeploymentCondition {
	if o.deployment == nil {
		return nil
	}
	i := slices.IndexFunc(o.deployment.Status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == conditionType })
	if i < 0 {
		return nil
	}
	return &o.deployment.Status.Conditions[i]
}

func newCondition(conditionType string, status bool, reason, message string, args ...any) metav1.Condition {
	c := metav1.Condition{Type: conditionType, Status: metav1.ConditionFalse, Reason: reason, Message: truncate(fmt.Sprintf(message, args...), maxMessage)}
	if status {
		c.Status = metav1.ConditionTrue
	}
	return c
}
