package controller

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/operator-assay/assay/operator/api/workload"
)

// claim writes the status before any child is written. The write names the version of the resource that was read,
// so the API server refuses it when that is not the newest: who reads a stale cache, was restarted, or leads no
// more, gets no further, and the next write acts for the current spec. When the status has nothing new to say, the
// API server checks the version all the same and stores nothing.
func (r *reconciler[R]) claim(ctx context.Context, resource R, children children, rollout bool) (bool, error) {
	observed, err := r.observe(ctx, resource, children, nil)
	if err != nil {
		return false, err
	}
	if rollout {
		observed.forgetRollout()
	}
	claimed := resource.DeepCopyObject().(R)
	if children.deployment.unread == nil { // else nobody knows what runs
		claimed = r.computeStatus(resource, children, observed)
		keepUnknown(resource.Workload(), claimed.Workload())
	}
	err = r.writeStatus(ctx, resource, claimed)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// keepUnknown keeps the conditions that depend on the writes that follow: that one was refused, since it may be refused
// again, and that not all is as the spec asks.
func keepUnknown(before, after *workload.Status) {
	for _, conditionType := range []string{workload.Degraded, workload.Progressing} {
		was, is := meta.FindStatusCondition(before.Conditions, conditionType), meta.FindStatusCondition(after.Conditions, conditionType)
		if was != nil && (conditionType == workload.Degraded || is.Reason == workload.ReasonComplete ||
			slices.Contains([]string{workload.ReasonBlocked, workload.ReasonRetrying, workload.ReasonWaitingForDeletion}, was.Reason)) {
			keep(was, is)
		}
	}
}

// keepRejected keeps that a child was refused while its next write fails otherwise: it may be refused again.
func keepRejected(before, after *workload.Status, blockers []*blocker) {
	retrying := slices.ContainsFunc(blockers, func(b *blocker) bool { return b.reason == workload.ReasonRetrying && b.written == "" })
	was, is := meta.FindStatusCondition(before.Conditions, workload.Degraded), meta.FindStatusCondition(after.Conditions, workload.Degraded)
	if retrying && was != nil && was.Reason == workload.ReasonRejected && is.Status == metav1.ConditionFalse {
		keep(was, is)
	}
}

// keep has a condition be what it was, of the generation that is observed now.
func keep(was, is *metav1.Condition) {
	generation := is.ObservedGeneration
	*is = *was
	is.ObservedGeneration = generation
}

// updateStatus reports what is observed. What answers a change of the spec, or reports a blocker, is written
// at once, and so is the end of a rollout; what merely follows Pods waits for the burst to be over.
func (r *reconciler[R]) updateStatus(ctx context.Context, resource R, children children, blockers []*blocker) (ctrl.Result, error) {
	key, memory := client.ObjectKeyFromObject(resource), r.memories.of(resource)
	if len(blockers) == 0 {
		memory.succeed()
	}
	blockers = append(blockers, memory.contested()...)
	if unread := children.deployment.unread; unread != nil && len(resource.Workload().Nodes) > 0 {
		return ctrl.Result{}, unread // the Pods that were reported are not gone because nobody can tell
	}
	observed, err := r.observe(ctx, resource, children, blockers)
	if err != nil {
		return ctrl.Result{}, err
	}
	computed := r.computeStatus(resource, children, observed)
	keepRejected(resource.Workload(), computed.Workload(), blockers)
	if equality.Semantic.DeepEqual(resource, computed) {
		r.debounce.forget(key)
		return after(observed.again(), blockers), nil
	}
	if !immediate(resource, computed) {
		if delay := r.debounce.delay(key, computed.Workload(), time.Now()); delay > 0 {
			return after(delay, blockers), nil
		}
	}
	err = r.writeStatus(ctx, resource, computed)
	if apierrors.IsConflict(err) {
		return after(cacheReadTimeout, blockers), nil // earlier, when the watch brings the newer one
	}
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	r.debounce.forget(key)
	if complete(computed) {
		r.debounce.complete(time.Now())
	}
	return after(observed.again(), blockers), nil
}

// observe gathers what the status is computed from.
func (r *reconciler[R]) observe(ctx context.Context, resource R, children children, blockers []*blocker) (*observed, error) {
	o := &observed{desired: r.replicas(resource), blockers: blockers}
	if !children.deployment.isControlledBy(resource) {
		return o, nil
	}
	o.deployment = children.deployment.object.(*appsv1.Deployment)
	if o.deployment.Status.ObservedGeneration < o.deployment.Generation {
		o.forgetRollout()
	}
	var err error
	o.pods, err = activePods(ctx, r.Client, o.deployment)
	return o, err
}

// forgetRollout clears the Deployment's status, which describes an older spec. What was wrong then is not over before the
// Deployment's controller has looked at the new one.
func (o *observed) forgetRollout() {
	if o.deployment != nil {
		o.forgotten = true
		o.deployment = o.deployment.DeepCopy()
		o.deployment.Status = appsv1.DeploymentStatus{Conditions: o.deployment.Status.Conditions}
	}
}

// computeStatus is the resource with the status that follows from what is observed. It changes nothing.
func (r *reconciler[R]) computeStatus(resource R, children children, observed *observed) R {
	computed := resource.DeepCopyObject().(R)
	status := computed.Workload()
	status.ObservedGeneration = resource.GetGeneration()
	status.Replicas = int32(len(observed.pods))
	status.ReadyReplicas = observed.ready()
	status.Selector = labels.SelectorFromSet(r.selector(resource)).String()
	status.Nodes = nil
	for _, pod := range observed.pods[:min(len(observed.pods), workload.MaxNodes)] {
		status.Nodes = append(status.Nodes, pod.Name)
	}
	for _, condition := range []metav1.Condition{observed.available(), observed.progressing(), observed.degraded()} {
		condition.ObservedGeneration = resource.GetGeneration()
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	r.computeOwnStatus(computed, children)
	return computed
}

// immediate reports whether a status must not wait: it answers a change of the spec, all is as the spec asks now,
// the resource begins or ceases to be degraded, or it ceases to be available.
func immediate[R resource](before, after R) bool {
	was, is := before.Workload(), after.Workload()
	changed := func(conditionType string) bool {
		was, is := meta.FindStatusCondition(was.Conditions, conditionType), meta.FindStatusCondition(is.Conditions, conditionType)
		return was == nil || was.Status != is.Status || was.Reason != is.Reason
	}
	return was.ObservedGeneration != is.ObservedGeneration ||
		changed(workload.Degraded) ||
		changed(workload.Available) && meta.IsStatusConditionFalse(is.Conditions, workload.Available) ||
		complete(after)
}

// complete reports that a resource is as its spec asks.
func complete[R resource](resource R) bool {
	return meta.FindStatusCondition(resource.Workload().Conditions, workload.Progressing).Reason == workload.ReasonComplete
}

// writeStatus writes the status of this very version of the resource. The resource is then the one that is stored.
func (r *reconciler[R]) writeStatus(ctx context.Context, resource, computed R) error {
	if err := r.Status().Update(ctx, computed); err != nil {
		return err
	}
	if changes := diff(fieldsOf(resource)["status"], fieldsOf(computed)["status"]); len(changes) > 0 {
		log.FromContext(ctx).Info("Reported status", "changes", changes)
		r.recordHealth(resource, computed)
	}
	reflect.ValueOf(resource).Elem().Set(reflect.ValueOf(computed).Elem())
	return nil
}

// recordHealth leaves an Event when the resource becomes degraded, for another reason than before, or recovers.
func (r *reconciler[R]) recordHealth(before, after R) {
	was, is := meta.FindStatusCondition(before.Workload().Conditions, workload.Degraded), meta.FindStatusCondition(after.Workload().Conditions, workload.Degraded)
	wasDegraded := was != nil && was.Status == metav1.ConditionTrue
	switch {
	case is.Status == metav1.ConditionTrue && (!wasDegraded || was.Reason != is.Reason):
		r.events.Eventf(after, nil, corev1.EventTypeWarning, is.Reason, "Reconcile", "%s", truncate(is.Message, maxEventNote))
	case is.Status == metav1.ConditionFalse && wasDegraded:
		note := fmt.Sprintf("no more %s: %s", was.Reason, was.Message)
		r.events.Eventf(after, nil, corev1.EventTypeNormal, "Recovered", "Reconcile", "%s", truncate(note, maxEventNote))
	}
}
