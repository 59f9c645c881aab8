package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/operator-assay/assay/operator/api/workload"
)

// report writes into the status what is to be seen. What answers a change of the spec, or tells of
// an obstacle, is written at once; what merely follows Pods waits for the burst to be over.
func (r *reconciler[R]) report(ctx context.Context, resource R, children []*child, obstacles []*obstacle) (ctrl.Result, error) {
	seen, err := r.look(ctx, resource, children, obstacles)
	if err != nil {
		return ctrl.Result{}, err
	}
	outdated, wait := r.draft(resource, children, seen)
	if outdated && wait <= 0 {
		wait, err = r.write(ctx, resource, children, seen)
	}
	if err != nil || wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, err
	}
	r.bursts.close(client.ObjectKeyFromObject(resource))
	return ctrl.Result{}, unsolved(obstacles)
}

// look gathers what conditions are judged by.
func (r *reconciler[R]) look(ctx context.Context, resource R, children []*child, obstacles []*obstacle) (*sight, error) {
	if err := children[0].unread; err != nil && len(resource.Workload().Nodes) > 0 {
		return nil, err // the Pods that were told of are not gone because nobody can tell
	}
	seen := &sight{desired: r.replicas(resource), obstacles: obstacles}
	if !children[0].ours(resource) {
		return seen, nil
	}
	seen.deployment = children[0].object.(*appsv1.Deployment)
	if seen.deployment.Status.ObservedGeneration < seen.deployment.Generation {
		// What it says is about a spec of before: nothing is known of this one yet.
		seen.deployment = seen.deployment.DeepCopy()
		seen.deployment.Status = appsv1.DeploymentStatus{}
	}
	var err error
	seen.pods, err = livingPods(ctx, r.Client, seen.deployment)
	return seen, err
}

// describe makes the resource's status say what was seen.
func (r *reconciler[R]) describe(resource R, children []*child, seen *sight) {
	status := resource.Workload()
	status.ObservedGeneration = resource.GetGeneration()
	status.Replicas = int32(len(seen.pods))
	status.ReadyReplicas = seen.ready()
	status.Selector = labels.SelectorFromSet(r.selector(resource)).String()
	status.Nodes = nil
	for _, pod := range seen.pods {
		status.Nodes = append(status.Nodes, pod.Name)
	}
	for _, condition := range []metav1.Condition{seen.available(), seen.progressing(), seen.degraded()} {
		condition.ObservedGeneration = resource.GetGeneration()
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	r.observe(resource, children)
}

// draft makes the resource's status say what was seen. It tells whether that changes it, and how long
// to wait before it is written.
func (r *reconciler[R]) draft(resource R, children []*child, seen *sight) (outdated bool, wait time.Duration) {
	before := resource.DeepCopyObject().(R)
	r.describe(resource, children, seen)
	if equality.Semantic.DeepEqual(before, resource) {
		return false, 0
	}
	if !urgent(before, resource) {
		wait = r.bursts.remaining(client.ObjectKeyFromObject(resource), resource.Workload())
	}
	return true, wait
}

// urgent tells a status that must not wait from one that merely follows Pods: it answers a change of
// the spec, the resource begins or ceases to be degraded or ceases to be available, or the kind's own
// part has changed, such as a node port.
func urgent[R resource](before, after R) bool {
	was, is := *before.Workload(), *after.Workload()
	changed := func(kind string) bool {
		was, is := meta.FindStatusCondition(was.Conditions, kind), meta.FindStatusCondition(is.Conditions, kind)
		return was == nil || was.Status != is.Status || was.Reason != is.Reason
	}
	before, after = before.DeepCopyObject().(R), after.DeepCopyObject().(R)
	*before.Workload(), *after.Workload() = workload.Status{}, workload.Status{}
	return was.ObservedGeneration != is.ObservedGeneration ||
		changed(workload.Degraded) ||
		changed(workload.Available) && meta.IsStatusConditionFalse(is.Conditions, workload.Available) ||
		!equality.Semantic.DeepEqual(before, after)
}

// write writes the status, unless the API server's is up to date, is to wait, or is of another spec
// than was seen.
func (r *reconciler[R]) write(ctx context.Context, resource R, children []*child, seen *sight) (time.Duration, error) {
	current := r.empty()
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(resource), current); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	if current.GetUID() != resource.GetUID() || current.GetGeneration() != resource.GetGeneration() {
		return 0, nil // the watch brings the newer one
	}
	before, err := statusOf(current)
	if err != nil {
		return 0, err
	}
	wasDegraded := ptr.Deref(meta.FindStatusCondition(current.Workload().Conditions, workload.Degraded), metav1.Condition{})
	if outdated, wait := r.draft(current, children, seen); !outdated || wait > 0 {
		return wait, nil
	}
	conditions := &current.Workload().Conditions
	*conditions = slices.DeleteFunc(*conditions, func(c metav1.Condition) bool { // others' stay theirs
		return !slices.Contains([]string{workload.Available, workload.Progressing, workload.Degraded}, c.Type)
	})
	after, err := statusOf(current)
	if err != nil {
		return 0, err
	}
	status := &unstructured.Unstructured{Object: map[string]any{"status": after}}
	status.SetGroupVersionKind(r.GroupVersionKind)
	status.SetNamespace(current.GetNamespace())
	status.SetName(current.GetName())
	// Of this very version: what a deposed leader sent before the next one wrote must not arrive after it,
	// nor what was decided on an object that another one has replaced.
	status.SetResourceVersion(current.GetResourceVersion())
	err = r.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(status), client.ForceOwnership)
	if apierrors.IsConflict(err) {
		return lull, nil // by then the watch has brought the newer one
	}
	if err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	log.FromContext(ctx).Info("Reported status", "changes", changes(before, after))
	r.tellHealth(current, wasDegraded)
	return 0, nil
}

// tellHealth leaves an Event when the resource becomes degraded, for another reason than before, or
// recovers.
func (r *reconciler[R]) tellHealth(resource R, was metav1.Condition) {
	is := meta.FindStatusCondition(resource.Workload().Conditions, workload.Degraded)
	switch {
	case is.Status == metav1.ConditionTrue && (was.Status != is.Status || was.Reason != is.Reason):
		r.events.Eventf(resource, nil, corev1.EventTypeWarning, is.Reason, "Reconcile", "%s", is.Message)
	case is.Status == metav1.ConditionFalse && was.Status == metav1.ConditionTrue:
		r.events.Eventf(resource, nil, corev1.EventTypeNormal, "Recovered", "Reconcile", "%s", truncate(fmt.Sprintf("no more %s: %s", was.Reason, was.Message)))
	}
}

// statusOf is the status as the API server stores it.
func statusOf[R resource](resource R) (map[string]any, error) {
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(resource)
	if err != nil {
		return nil, err
	}
	status, _, err := unstructured.NestedMap(object, "status")
	return status, err
}

// unsolved is the error that has the reconcile retried: an obstacle whose end no watch will tell.
func unsolved(obstacles []*obstacle) error {
	for _, obstacle := range obstacles {
		if !obstacle.watched {
			return obstacle
		}
	}
	return nil
}
