package incluster

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// pollInterval is the default for Cluster.pollInterval. An exploration takes minutes, so polling is cheaper than
// keeping three watches open.
const pollInterval = time.Second

type state struct {
	end       string // how the Job ended, or empty while it is running
	isDeleted bool
	pods      []corev1.Pod
	warnings  []string // about the Job, for example that a quota prevents it from creating Pods
}

// read reads the Job before its Pods, so that the state of a finished Job includes its last Pod.
func (c *Cluster) read(ctx context.Context, job *batchv1.Job) (s state, err error) {
	now, err := c.clientset.BatchV1().Jobs(c.namespace).Get(ctx, job.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return state{end: fmt.Sprintf("Job %s was deleted", job.Name), isDeleted: true}, nil
	}
	if err != nil {
		return state{}, err
	}
	for _, condition := range now.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobSuccessCriteriaMet, batchv1.JobComplete:
			s.end = fmt.Sprintf("Job %s has ended", job.Name)
		case batchv1.JobFailureTarget, batchv1.JobFailed:
			s.end = fmt.Sprintf("Job %s has failed", job.Name)
		}
	}
	pods, err := c.clientset.CoreV1().Pods(c.namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job.Name})
	if err != nil {
		return state{}, err
	}
	s.pods = pods.Items
	about := fields.SelectorFromSet(fields.Set{"involvedObject.uid": string(job.UID), "type": corev1.EventTypeWarning})
	events, err := c.clientset.CoreV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: about.String()})
	if err != nil {
		return s, nil // the user may not be allowed to read Events
	}
	for _, event := range events.Items {
		s.warnings = append(s.warnings, event.Message)
	}
	return s, nil
}

// terminated returns how the Pod's container terminated, or nil if it has not terminated.
func terminated(pod *corev1.Pod) *corev1.ContainerStateTerminated {
	for _, container := range pod.Status.ContainerStatuses {
		if container.State.Terminated != nil {
			return container.State.Terminated
		}
	}
	if pod.Status.Phase == corev1.PodFailed { // the Pod failed before its container started, or its node failed
		return &corev1.ContainerStateTerminated{Reason: pod.Status.Reason, ExitCode: -1}
	}
	return nil
}
