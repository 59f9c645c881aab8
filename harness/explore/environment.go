package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
)

// betweenRuns is the namespace to which an exclusive control plane's history assigns objects while no run is active.
const betweenRuns = "between runs"

type environment struct {
	config  Environment
	history *record.History
	// exclusive is true if only one run at a time uses the cluster. A run's state then includes cluster-scoped objects.
	exclusive bool
	before    map[types.UID]*unstructured.Unstructured // objects that existed before the current run; only set if exclusive
}

func (e *environment) home(namespace string) string {
	if e.exclusive {
		return cmp.Or(e.config.Home, namespace)
	}
	return namespace
}

func (e *environment) begin(ctx context.Context) (string, error) {
	if e.exclusive {
		e.before = e.history.Known()
		e.history.RecordAllFor("") // so that the first objects in the namespace are not missed
	}
	namespace, err := e.config.ControlPlane.CreateNamespace(ctx, "run")
	if err == nil && e.exclusive {
		e.history.RecordAllFor(namespace)
	}
	if err == nil && e.config.Prepare != nil {
		err = e.config.Prepare(ctx, e.home(namespace))
	}
	return namespace, err
}

// reset deletes everything that a run created and restores everything that it modified. The operator must have stopped.
func (e *environment) reset(ctx context.Context, namespace string) error {
	// Delete the operator's own Pod and Leases here, because they are not in the history.
	for _, unrecorded := range []client.Object{&corev1.Pod{}, &coordinationv1.Lease{}} {
		if err := e.config.ControlPlane.Client.DeleteAllOf(ctx, unrecorded, client.InNamespace(e.home(namespace)), client.GracePeriodSeconds(0)); err != nil {
			return err
		}
	}
	for {
		if err := e.history.WaitFor(ctx, namespace, resetTimeout, func(ctx context.Context) error { return e.resetOnce(ctx, namespace) }); err != nil {
			return err
		}
		if err := e.history.WaitStable(ctx, namespace, resetWindow); err != nil {
			return err
		}
		if e.resetOnce(ctx, namespace) == nil {
			e.history.RecordAllFor(betweenRuns)
			e.history.KeepLatest(betweenRuns)
			return nil
		}
	}
}

// resetOnce deletes or restores the remaining objects. It returns an error until none are left.
func (e *environment) resetOnce(ctx context.Context, namespace string) error {
	var errs []error
	inside := sets.New[string]() // namespaces that still contain objects
	namespaces := []string{namespace}
	exist := e.history.Known()
	for uid := range e.before {
		if exist[uid] == nil {
			return fmt.Errorf("%s %s existed before the run and is gone", e.before[uid].GetKind(), e.before[uid].GetName())
		}
	}
	for _, object := range e.history.Objects(namespace) {
		was := e.before[object.GetUID()]
		switch {
		case was != nil:
			errs = append(errs, e.restore(ctx, object, was))
		case object.GetKind() == "Namespace" && object.GetAPIVersion() == "v1":
			namespaces = append(namespaces, object.GetName())
		default:
			inside.Insert(object.GetNamespace())
			errs = append(errs, fmt.Errorf("%s %s still exists", object.GetKind(), object.GetName()), e.remove(ctx, object))
		}
	}
	for _, name := range namespaces {
		errs = append(errs, e.removeNamespace(ctx, name, !inside.Has(name)))
	}
	return errors.Join(errs...)
}

func (e *environment) remove(ctx context.Context, object unstructured.Unstructured) error {
	if object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) > 0 {
		none := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`))
		return client.IgnoreNotFound(e.config.ControlPlane.Client.Patch(ctx, &object, none))
	}
	uid := object.GetUID()
	err := e.config.ControlPlane.Client.Delete(ctx, &object, client.GracePeriodSeconds(0), client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsConflict(err) {
		return nil // the object is gone and another object has the same name
	}
	return client.IgnoreNotFound(err)
}

// removeNamespace deletes a Namespace. If the Namespace is empty, removeNamespace also removes the finalizers, because
// the namespace controller would take 5 seconds to do so.
func (e *environment) removeNamespace(ctx context.Context, name string, empty bool) error {
	namespace := &corev1.Namespace{}
	err := e.config.ControlPlane.Client.Get(ctx, client.ObjectKey{Name: name}, namespace)
	switch {
	case err != nil:
		return client.IgnoreNotFound(err)
	case namespace.DeletionTimestamp == nil:
		err = e.config.ControlPlane.Client.Delete(ctx, namespace)
	case !empty:
		return fmt.Errorf("Namespace %s is not empty", name)
	default:
		namespace.Finalizers, namespace.Spec.Finalizers = nil, nil
		err = e.config.ControlPlane.Client.SubResource("finalize").Update(ctx, namespace)
	}
	return errors.Join(fmt.Errorf("Namespace %s still exists", name), client.IgnoreNotFound(err))
}

// restore reverts all changes to an object except those in its status.
func (e *environment) restore(ctx context.Context, object unstructured.Unstructured, was *unstructured.Unstructured) error {
	if equality.Semantic.DeepEqual(content(&object), content(was)) {
		return nil
	}
	again := was.DeepCopy()
	again.SetManagedFields(nil)
	again.SetResourceVersion(object.GetResourceVersion())
	return errors.Join(fmt.Errorf("%s %s has not been restored", object.GetKind(), object.GetName()), e.config.ControlPlane.Client.Update(ctx, again))
}

// content returns the fields of an object that users can set.
func content(object *unstructured.Unstructured) map[string]any {
	fields := maps.Clone(object.Object)
	delete(fields, "status")
	delete(fields, "metadata")
	fields["labels"], fields["annotations"] = object.GetLabels(), object.GetAnnotations()
	fields["finalizers"], fields["owners"] = object.GetFinalizers(), object.GetOwnerReferences()
	return fields
}

// resynced lists the kinds whose controllers process every object every few seconds even if nothing has changed.
// Deployments and Services are omitted, because deleting them would cost more time than the resyncs.
var resynced = []string{
	"HorizontalPodAutoscaler.autoscaling", "PodDisruptionBudget.policy", "CronJob.batch", "Job.batch", "StatefulSet.apps", "DaemonSet.apps",
}

// sweep deletes a finished run's objects that would block or slow down other runs on the shared control plane: Services
// with node ports, and objects of the resynced kinds.
func (e *environment) sweep(ctx context.Context, namespace string) {
	left := e.history.Objects(namespace)
	e.history.Drop(namespace)
	for _, object := range left {
		if slices.Contains(resynced, object.GroupVersionKind().GroupKind().String()) || hasNodePort(object) {
			// Ignore errors. A leftover object only slows down later runs.
			_ = e.config.ControlPlane.Client.Delete(ctx, &object, client.PropagationPolicy("Background"))
		}
	}
}

func hasNodePort(object unstructured.Unstructured) bool {
	kind, _, _ := unstructured.NestedString(object.Object, "spec", "type")
	return object.GetKind() == "Service" && object.GetAPIVersion() == "v1" &&
		(kind == string(corev1.ServiceTypeNodePort) || kind == string(corev1.ServiceTypeLoadBalancer))
}
