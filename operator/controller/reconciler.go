package controller

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// reconciler is the loop of every kind.
type reconciler[R resource] struct {
	resourceKind[R]
	client.Client               // reads the cache, with this operator's own writes in it
	apiReader     client.Reader // reads the API server
	events        events.EventRecorder
	debounce      debouncer
	memories      memories
}

// Reconcile makes a resource's children as its spec asks and reports in its status what is observed.
// Deletion is left to the garbage collector, so that it works while no operator runs.
func (r *reconciler[R]) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	resource := r.newObject()
	if err := r.read(ctx, request.NamespacedName, resource); err != nil {
		if apierrors.IsNotFound(err) {
			r.debounce.forget(request.NamespacedName)
			r.memories.Delete(request.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if isCollected(resource) {
		r.debounce.forget(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	children, err := r.readChildren(ctx, resource)
	if err != nil {
		return ctrl.Result{}, err
	}
	if r.memories.of(resource).upToDate(resource, children) {
		return r.updateStatus(ctx, resource, children, nil)
	}
	return r.ensureChildren(ctx, resource, children)
}

// isCollected reports whether the garbage collector deletes or orphans the resource's children now. A resource that is
// deleted and waits for other finalizers still serves.
func isCollected(resource client.Object) bool {
	return resource.GetDeletionTimestamp() != nil && slices.ContainsFunc(resource.GetFinalizers(), isCollectors)
}

// isCollectors reports whether a finalizer is the garbage collector's.
func isCollectors(finalizer string) bool {
	return finalizer == metav1.FinalizerDeleteDependents || finalizer == metav1.FinalizerOrphanDependents
}

// ensureChildren writes the children that are not up to date, and the status before and after that. A child
// that is blocked does not keep the others from being written.
func (r *reconciler[R]) ensureChildren(ctx context.Context, resource R, children children) (ctrl.Result, error) {
	var outdated []*child
	var blockers []*blocker
	for _, child := range children.all() {
		needed, blocker := r.needsWrite(ctx, resource, child)
		switch {
		case blocker != nil:
			if blocker.retryAfter == 0 {
				r.memories.of(resource).hold(resource, child, blocker, time.Now())
			}
			blockers = append(blockers, blocker)
		case needed:
			outdated = append(outdated, child)
		}
	}
	if len(outdated) > 0 {
		rollout := slices.Contains(outdated, children.deployment) || resource.Workload().ObservedGeneration != resource.GetGeneration()
		if current, err := r.claim(ctx, resource, children, rollout); err != nil {
			return ctrl.Result{}, err
		} else if !current {
			return after(cacheReadTimeout, blockers), nil // earlier, when the watch brings the newer resource
		}
	}
	stale := false
	for _, child := range outdated {
		err := r.write(ctx, resource, child)
		if apierrors.IsConflict(err) {
			stale = true
		} else if blocker := r.classifyError(resource, child, err); blocker != nil {
			r.memories.of(resource).hold(resource, child, blocker, time.Now())
			log.FromContext(ctx).Info("Not as desired", "child", child.kind, "childName", child.object.GetName(), "why", err.Error(), "retryAfter", blocker.retryAfter.String())
			blockers = append(blockers, blocker)
		}
	}
	if stale {
		return after(cacheReadTimeout, blockers), nil // earlier, when the watch brings the newer child
	}
	result, err := r.updateStatus(ctx, resource, children, blockers)
	if err = cmp.Or(err, children.unread()); err != nil {
		return ctrl.Result{}, err
	}
	hidden := slices.ContainsFunc(children.all(), func(c *child) bool { return c.hidden })
	if (result.IsZero() || result.RequeueAfter > maxDelay) && (hidden || len(outdated) > 0) {
		// A watch that breaks may never report a child that came and went: look until the cache shows these.
		result.RequeueAfter = cacheReadTimeout
	}
	return result, nil
}

// read reads from the cache as soon as that shows what this operator last wrote of the object. After
// cacheReadTimeout it takes what the cache has: what is decided on a stale view, a precondition refuses.
func (r *reconciler[R]) read(ctx context.Context, key client.ObjectKey, object client.Object) error {
	bounded, cancel := context.WithTimeout(ctx, cacheReadTimeout)
	defer cancel()
	err := r.Get(bounded, key, object)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return r.Get(ctx, key, object, client.DisableReadYourWritesConsistency)
	}
	return err
}

// readChildren reads the children from the cache. Of one that is not there, object has just the name.
func (r *reconciler[R]) readChildren(ctx context.Context, resource R) (children, error) {
	children := r.children(r.resourceKind, resource)
	for _, child := range children.all() {
		if err := r.read(ctx, client.ObjectKeyFromObject(child.object), child.object); client.IgnoreNotFound(err) != nil {
			return children, err
		}
	}
	return children, nil
}
