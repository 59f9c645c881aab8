package controller

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
)

// resource is a custom resource whose Pods run through a Deployment.
type resource interface {
	client.Object
	Workload() *workload.Status
}

// kind is what tells one kind of resource from another.
type kind[R resource] struct {
	schema.GroupVersionKind
	// empty makes a resource to read into.
	empty func() R
	// replicas is how many Pods a resource asks for.
	replicas func(R) int32
	// children are the objects that a resource wants to exist; the first is its Deployment.
	children func(kind[R], R) []*child
	// observe writes into the status what only this kind learns of its children.
	observe func(R, []*child)
}

// label is the kind as the value of a label.
func (k kind[R]) label() string { return strings.ToLower(k.Kind) }

// reconciler is the loop of every kind.
type reconciler[R resource] struct {
	kind[R]
	client.Client               // reads the cache
	live          client.Reader // reads the API server
	events        events.EventRecorder
	bursts        window
}

// Reconcile makes a resource's children as it wants them and reports in its status what became of
// it. Deleting is left to the garbage collector, so that it works while no operator runs.
func (r *reconciler[R]) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	resource := r.empty()
	if err := r.Get(ctx, request.NamespacedName, resource); err != nil {
		r.bursts.close(request.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	children := r.children(r.kind, resource)
	settled, err := r.settled(ctx, resource, children)
	if err != nil {
		return ctrl.Result{}, err
	}

	var obstacles []*obstacle
	if !settled {
		if err := r.live.Get(ctx, request.NamespacedName, resource); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		children = r.children(r.kind, resource)
	}
	if !resource.GetDeletionTimestamp().IsZero() {
		return ctrl.Result{}, nil
	}
	if !settled {
		obstacles = r.settle(ctx, resource, children)
	}
	result, err := r.report(ctx, resource, children, obstacles)
	if settled || len(obstacles) > 0 || err != nil || !result.IsZero() {
		return result, err
	}
	return r.awaitCache(ctx, children)
}

// settled tells, from the cache, whether all children are as they should be.
func (r *reconciler[R]) settled(ctx context.Context, owner R, children []*child) (bool, error) {
	for _, child := range children {
		if err := r.Get(ctx, client.ObjectKeyFromObject(child.object), child.object); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		if obstacle := child.obstacle(owner, r.GroupVersionKind); obstacle != nil {
			return false, nil
		}
		if asWanted, err := child.asWanted(); !asWanted || child.edited() {
			return false, err
		}
	}
	return true, nil
}

// settle makes the children as they should be. One that cannot be is no reason to leave the
// others: what stands in its way is returned.
func (r *reconciler[R]) settle(ctx context.Context, owner R, children []*child) []*obstacle {
	var obstacles []*obstacle
	for _, child := range children {
		if obstacle := r.ensure(ctx, owner, child); obstacle != nil {
			obstacles = append(obstacles, obstacle)
		}
	}
	return obstacles
}

// awaitCache has the reconcile repeated while the cache does not show the children as they were just
// read or written. A watch that breaks may never tell of one that came and went in the meantime.
func (r *reconciler[R]) awaitCache(ctx context.Context, children []*child) (ctrl.Result, error) {
	for _, child := range children {
		cached := child.object.DeepCopyObject().(client.Object)
		err := r.Get(ctx, client.ObjectKeyFromObject(cached), cached)
		if client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, err
		}
		if err != nil || cached.GetResourceVersion() != child.object.GetResourceVersion() {
			return ctrl.Result{RequeueAfter: catchUp}, nil
		}
	}
	return ctrl.Result{}, nil
}
