package controller

import (
	"context"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/operator/api/workload"
)

// resource is a custom resource whose Pods run through a Deployment.
type resource interface {
	client.Object
	Workload() *workload.Status
}

// resourceKind is what tells one kind of resource from another.
type resourceKind[R resource] struct {
	schema.GroupVersionKind
	// newObject makes a resource to read into.
	newObject func() R
	// replicas is how many Pods a resource asks for.
	replicas func(R) int32
	// children are the objects that a resource wants to exist.
	children func(resourceKind[R], R) children
	// computeOwnStatus sets what only this kind's status has.
	computeOwnStatus func(R, children)
	// watchOwn adds the watches that only this kind has.
	watchOwn func(*builder.Builder)
}

// label is the kind as the value of a label.
func (k resourceKind[R]) label() string { return strings.ToLower(k.Kind) }

// setup adds the controller of a kind to the manager, with the watches that every kind has. A child is mapped to
// its resource by name, which it keeps even when somebody else removes its labels or its owner.
func setup[R resource](manager ctrl.Manager, kind resourceKind[R]) error {
	b := ctrl.NewControllerManagedBy(manager).
		For(kind.newObject()).
		Watches(&appsv1.Deployment{}, enqueueByName("")).
		Watches(&appsv1.ReplicaSet{}, enqueueByInstance(kind.label())).
		Watches(&corev1.Pod{}, enqueueByInstance(kind.label())).
		WithOptions(controllerOptions())
	kind.watchOwn(b)
	return b.Complete(newFairReconciler(manager.GetControllerOptions().MaxConcurrentReconciles, &reconciler[R]{
		resourceKind: kind,
		Client:       manager.GetClient(),
		apiReader:    manager.GetAPIReader(),
		events:       manager.GetEventRecorder(Name),
	}))
}

// controllerOptions bound a reconcile, and the delays of those that follow a failed one.
func controllerOptions() controller.Options {
	return controller.Options{
		RateLimiter:           workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](baseDelay, maxDelay),
		ReconciliationTimeout: reconcileTimeout,
	}
}

// enqueueByName maps a child to the resource whose name it has, but for the suffix.
func enqueueByName(suffix string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, child client.Object) []reconcile.Request {
		name, ours := strings.CutSuffix(child.GetName(), suffix)
		if !ours {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: child.GetNamespace(), Name: name}}}
	})
}

// enqueueByInstance maps a Pod or ReplicaSet to the resource that its labels name, if what the cache keeps of it changes.
func enqueueByInstance(kind string) handler.EventHandler {
	enqueue := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		labels := object.GetLabels()
		if labels[labelName] != kind {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: object.GetNamespace(), Name: labels[labelInstance]}}}
	})
	return handler.Funcs{
		CreateFunc: enqueue.Create,
		UpdateFunc: func(ctx context.Context, update event.UpdateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
			before := update.ObjectOld.DeepCopyObject().(client.Object)
			before.SetResourceVersion(update.ObjectNew.GetResourceVersion())
			before.SetGeneration(update.ObjectNew.GetGeneration())
			if !equality.Semantic.DeepEqual(before, update.ObjectNew) {
				enqueue.Update(ctx, update, queue)
			}
		},
		DeleteFunc: enqueue.Delete,
	}
}
