package controller

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/operator-assay/assay/operator/api/workload"
)

// ensure makes one child as it should be, or returns the obstacle to that.
func (r *reconciler[R]) ensure(ctx context.Context, owner R, child *child) *obstacle {
	err := r.live.Get(ctx, client.ObjectKeyFromObject(child.object), child.object)
	if apierrors.IsNotFound(err) {
		return refusal(child, r.create(ctx, owner, child))
	}
	if err != nil {
		// It is there, for all that is known, and the cache tells how it was.
		if r.Get(ctx, client.ObjectKeyFromObject(child.object), child.object) != nil {
			child.unread = err
		}
		return refusal(child, err)
	}
	if obstacle := child.obstacle(owner, r.GroupVersionKind); obstacle != nil {
		return obstacle
	}
	asWanted, err := child.asWanted()
	if err == nil && asWanted && child.edited() {
		err = r.bookAsApplied(ctx, child)
	}
	if err != nil || asWanted {
		return refusal(child, err)
	}
	action := "Updated"
	if owner.Workload().ObservedGeneration == owner.GetGeneration() {
		action = "Repaired" // the spec is what it was, so somebody else changed the child
	}
	if err := r.removeRivals(ctx, child); err != nil {
		obstacle := refusal(child, err)
		obstacle.watched = apierrors.IsConflict(err) // the child has just changed, which is an event
		return obstacle
	}
	return refusal(child, r.apply(ctx, owner, child, action, client.ForceOwnership))
}

// create makes a child that was not found, unless its owner has gone, too: then that is why, and the
// garbage collector would have to take the new one away again.
func (r *reconciler[R]) create(ctx context.Context, owner R, child *child) error {
	current := r.empty()
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(owner), current); err != nil {
		return client.IgnoreNotFound(err)
	}
	if current.GetUID() != owner.GetUID() || !current.GetDeletionTimestamp().IsZero() {
		return nil
	}
	// Without force: an object that somebody else creates at this very moment stays theirs.
	return r.apply(ctx, owner, child, "Created")
}

// apply writes the fields that this operator owns and tells what that changed.
func (r *reconciler[R]) apply(ctx context.Context, owner R, child *child, action string, options ...client.ApplyOption) error {
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(child.object)
	if err != nil {
		return err
	}
	after, err := child.wanted()
	if err != nil {
		return err
	}
	if err := r.Apply(ctx, client.ApplyConfigurationFromUnstructured(after), options...); err != nil {
		return err
	}
	applied, err := r.Scheme().New(after.GroupVersionKind())
	if err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(after.Object, applied); err != nil {
		return err
	}
	child.object = applied.(client.Object)
	r.tell(ctx, owner, child, action, changes(before, after.Object))
	return nil
}

// refusal turns an error into an obstacle, so that the status tells of it: the API server's own word
// into one that a person may have to act on, anything else into one that is tried again.
func refusal(child *child, err error) *obstacle {
	switch {
	case err == nil:
		return nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return &obstacle{child: child.kind, reason: workload.ReasonWaitingForDeletion, message: "the namespace is being deleted", watched: true}
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err), apierrors.IsInternalError(err):
		return &obstacle{child: child.kind, reason: workload.ReasonRejected, message: fmt.Sprintf("the API server refuses the %s: %v", child.kind, err)}
	default:
		return &obstacle{child: child.kind, reason: workload.ReasonRetrying, message: fmt.Sprintf("%s %q: %v", child.kind, child.object.GetName(), err)}
	}
}

// maxNote is the length that the API server allows an Event's note.
const maxNote = 1024

// tell leaves an Event and a log line that say what became of a child, from what to what. Fields that
// only came back into this operator's hands, with the values they had, are not worth a word.
func (r *reconciler[R]) tell(ctx context.Context, owner R, child *child, action string, changes []string) {
	note := fmt.Sprintf("%s %s %s", action, child.kind, child.object.GetName())
	if action != "Created" {
		if len(changes) == 0 {
			return
		}
		note += ": " + strings.Join(changes, ", ")
	}
	log.FromContext(ctx).Info(note, "changes", changes)
	r.events.Eventf(owner, child.object, corev1.EventTypeNormal, action, "Apply", "%s", truncate(note))
}

func truncate(note string) string {
	if len(note) <= maxNote {
		return note
	}
	return strings.ToValidUTF8(note[:maxNote-len("…")], "") + "…"
}
