// Package controller keeps WebServers and Memcacheds as their specs ask.
//
// Both kinds run the one loop of reconciler.go; webserver.go and memcached.go say what is theirs.
// The loop decides on the cache and acts on what is live: a write is made only when the API server
// itself, just asked, holds something else. So a stale cache costs a read and never a wrong write.
package controller

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// Name is this operator's name: its field owner, the value of the managed-by label on all that it
// makes, and the reporting controller of its Events.
const Name = "assay-operator"

// DefaultWorkers is how many resources of one kind are reconciled at a time, unless the manager's
// options say otherwise.
const DefaultWorkers = 4

// What the API server refuses is tried again after firstRetry, then twice as long each time, up to
// lastRetry: an obstacle that this operator cannot watch is noticed within that time.
const (
	firstRetry = 5 * time.Millisecond
	lastRetry  = 15 * time.Second
)

// catchUp is the time that a cache is given to show what was written, before the API server is asked again.
const catchUp = time.Second

// What both kinds need. Creating by server-side apply wants the verb create beside patch. Nothing is
// deleted, but where OwnerReferencesPermissionEnforcement is on, as on OpenShift, only who may delete
// an object may give it back the owner reference that it lost.
//
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// Scheme knows the types that this operator works with.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(webserverv1.AddToScheme(scheme))
	utilruntime.Must(memcachedv1alpha1.AddToScheme(scheme))
	return scheme
}

// NewManager makes a manager that runs both kinds' controllers once it is started. The scheme, the
// cache and the client of its options are set here; the rest is the caller's.
func NewManager(config *rest.Config, options ctrl.Options) (ctrl.Manager, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the API server's priority and fairness throttles where it must

	options.Scheme = Scheme()
	options.Cache = cacheOptions()
	options.Client = client.Options{FieldOwner: Name, FieldValidation: metav1.FieldValidationStrict}
	if options.Controller.MaxConcurrentReconciles == 0 {
		options.Controller.MaxConcurrentReconciles = DefaultWorkers
	}
	manager, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, err
	}
	if err := indexControllers(context.Background(), manager.GetFieldIndexer()); err != nil {
		return nil, err
	}
	if err := addWebServers(manager); err != nil {
		return nil, fmt.Errorf("webserver controller: %w", err)
	}
	if err := addMemcacheds(manager); err != nil {
		return nil, fmt.Errorf("memcached controller: %w", err)
	}
	return manager, nil
}

// add builds the controller of a kind, with the watches that every kind has. A child is mapped to
// its resource by name, which it keeps even when a stranger takes its labels or its owner away.
func add[R resource](manager ctrl.Manager, kind kind[R], more ...func(*builder.Builder)) error {
	reconciler := &reconciler[R]{
		kind:   kind,
		Client: manager.GetClient(),
		live:   manager.GetAPIReader(),
		events: manager.GetEventRecorder(Name),
	}
	b := ctrl.NewControllerManagedBy(manager).
		For(kind.empty()).
		Watches(&appsv1.Deployment{}, byName("")).
		Watches(&appsv1.ReplicaSet{}, byInstance(kind.label())).
		Watches(&corev1.Pod{}, byInstance(kind.label())).
		WithOptions(controller.Options{
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		})
	for _, watch := range more {
		watch(b)
	}
	return b.Complete(reconciler)
}

// byName maps a child to the resource whose name it has, but for the suffix.
func byName(suffix string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, child client.Object) []reconcile.Request {
		name, ours := strings.CutSuffix(child.GetName(), suffix)
		if !ours {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: child.GetNamespace(), Name: name}}}
	})
}

// byInstance maps a Pod or ReplicaSet to the resource that its labels name.
func byInstance(kind string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		labels := object.GetLabels()
		if labels[labelName] != kind {
			return nil
		}
		return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: object.GetNamespace(), Name: labels[labelInstance]}}}
	})
}
