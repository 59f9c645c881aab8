package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// Name is this operator's name: its field owner, the value of the managed-by label on everything that it
// makes, and the reporting controller of its Events.
const Name = "assay-operator"

// DefaultWorkers is how many resources of one kind are reconciled at a time, unless the manager's options say
// otherwise. A worker mostly waits for the API server.
const DefaultWorkers = 16

// What both kinds need. Creating by server-side apply wants the verb create beside patch. Where
// OwnerReferencesPermissionEnforcement is on, as on OpenShift, only who may delete an object may restore its owner
// reference.
//
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=replicasets,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

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
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return reconnecting{next} })

	options.Scheme = Scheme()
	options.Cache = cacheOptions()
	options.Client = client.Options{
		FieldOwner: Name,
		Cache:      &client.CacheOptions{EnableReadYourWritesConsistency: new(true)},
	}
	if options.Controller.MaxConcurrentReconciles == 0 {
		options.Controller.MaxConcurrentReconciles = DefaultWorkers
	}
	options.Controller.EnableWarmup = new(true) // who is to lead next has its caches filled
	manager, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(addIndexes(context.Background(), manager.GetFieldIndexer()), setup(manager, webServers), setup(manager, memcacheds)); err != nil {
		return nil, fmt.Errorf("the controllers cannot be added to the manager: %w", err)
	}
	return manager, nil
}

// Ready is a readiness check. The operator can work when its caches are filled, which needs its role, and, if it
// must lead, when it leads or can read the Lease by which another one does. Nothing is asked of the API server by
// the one that leads.
func Ready(manager ctrl.Manager, lease client.ObjectKey) func(*http.Request) error {
	return func(request *http.Request) error {
		if err := cachesFilled(request.Context(), manager.GetCache()); err != nil {
			return err
		}
		select {
		case <-manager.Elected(): // at once, where nobody is elected
			return nil
		default:
			return manager.GetAPIReader().Get(request.Context(), lease, &coordinationv1.Lease{})
		}
	}
}

// cachesFilled returns an error that names a kind whose cache is not filled.
func cachesFilled(ctx context.Context, informers cache.Informers) error {
	for object := range cacheOptions().ByObject {
		informer, err := informers.GetInformer(ctx, object, cache.BlockUntilSynced(false))
		if err != nil {
			return err
		}
		if !informer.HasSynced() {
			return fmt.Errorf("the cache of %T is not filled", object)
		}
	}
	return nil
}
