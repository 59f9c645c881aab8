package incluster

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// objects caches a Job and its Pods and Events. It also works without permission to watch Events.
type objects struct {
	changed chan struct{} // receives a value after a change
	name    string
	job     cache.SharedIndexInformer
	podsOf  corev1listers.PodLister
	events  corev1listers.EventLister
	close   func()
}

func (c *Cluster) watch(ctx context.Context, job *batchv1.Job) *objects {
	ctx, cancel := context.WithCancel(ctx)
	some := func(narrow func(*metav1.ListOptions)) informers.SharedInformerFactory {
		return informers.NewSharedInformerFactoryWithOptions(c.clientset, 0, informers.WithNamespace(c.namespace), informers.WithTweakListOptions(narrow))
	}
	ofName := some(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, job.Name).String()
	})
	ofJob := some(func(o *metav1.ListOptions) {
		o.LabelSelector = labels.SelectorFromSet(labels.Set{batchv1.JobNameLabel: job.Name}).String()
	})
	about := some(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.SelectorFromSet(fields.Set{"involvedObject.uid": string(job.UID), "type": corev1.EventTypeWarning}).String()
	})
	jobs, pods, events := ofName.Batch().V1().Jobs().Informer(), ofJob.Core().V1().Pods(), about.Core().V1().Events()
	o := &objects{changed: make(chan struct{}, 1), name: job.Name, job: jobs, podsOf: pods.Lister(), events: events.Lister()}
	factories := []informers.SharedInformerFactory{ofName, ofJob, about}
	o.close = func() {
		cancel()
		for _, factory := range factories {
			factory.Shutdown()
		}
	}
	notify := func() {
		select {
		case o.changed <- struct{}{}:
		default: // a notification is already pending
		}
	}
	for _, informer := range []cache.SharedIndexInformer{jobs, pods.Informer(), events.Informer()} {
		_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{ // the informer has not been stopped
			AddFunc: func(any) { notify() }, UpdateFunc: func(_, _ any) { notify() }, DeleteFunc: func(any) { notify() },
		})
	}
	for _, factory := range factories {
		factory.Start(ctx.Done())
	}
	return o
}

func (o *objects) pods() []*corev1.Pod {
	pods, _ := o.podsOf.List(labels.Everything()) // List from a cache never fails
	return pods
}

// warnings returns the warnings for the Job, for example that a quota prevents the creation of its Pods.
func (o *objects) warnings() []string {
	events, _ := o.events.List(labels.Everything())
	var warnings []string
	for _, event := range events {
		warnings = append(warnings, event.Message)
	}
	return warnings
}

func (o *objects) ended(name string) *corev1.ContainerStateTerminated {
	for _, pod := range o.pods() {
		if pod.Name != name {
			continue
		}
		for _, container := range pod.Status.ContainerStatuses {
			if container.State.Terminated != nil {
				return container.State.Terminated
			}
		}
		if pod.Status.Phase == corev1.PodFailed { // the Pod failed before its container started, or its node failed
			return &corev1.ContainerStateTerminated{Reason: pod.Status.Reason, ExitCode: -1}
		}
	}
	return nil
}

// jobEnd returns a message if the Job has ended or has been deleted, and an empty string otherwise.
func (c *Cluster) jobEnd(ctx context.Context, o *objects) (message string, isDeleted bool, err error) {
	if !o.job.HasSynced() {
		return "", false, nil
	}
	stored := o.job.GetStore().List()
	if len(stored) == 0 { // the cached list may be older than the Job
		_, err := c.clientset.BatchV1().Jobs(c.namespace).Get(ctx, o.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return fmt.Sprintf("Job %s was deleted", o.name), true, nil
		}
		return "", false, err
	}
	job, _ := stored[0].(*batchv1.Job) // the informer only contains Jobs
	for _, condition := range job.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobSuccessCriteriaMet, batchv1.JobComplete:
			return fmt.Sprintf("Job %s has ended", o.name), false, nil
		case batchv1.JobFailureTarget, batchv1.JobFailed:
			return fmt.Sprintf("Job %s has failed", o.name), false, nil
		}
	}
	return "", false, nil
}
