package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/operator-assay/assay/operator/api/workload"
)

// The reasons of the Events on children.
const (
	reasonCreated  = "Created"
	reasonUpdated  = "Updated"  // the resource asks for other fields than were applied
	reasonRepaired = "Repaired" // somebody else changed a field
	reasonDeleted  = "Deleted"  // no update could repair it
)

// needsWrite reports whether a child is to be written, or what blocks that.
func (r *reconciler[R]) needsWrite(ctx context.Context, owner R, child *child) (bool, *blocker) {
	memory, now := r.memories.of(owner), time.Now()
	// The cache does not show a child that lost its label. No precondition stands in for this read: an apply
	// restores such a child, but could not tell that from a creation. What was never claimed was never made.
	if !child.exists() && memory.held(owner, child, now) == nil && owner.Workload().ObservedGeneration > 0 {
		if err := r.apiReader.Get(ctx, client.ObjectKeyFromObject(child.object), child.object); client.IgnoreNotFound(err) != nil {
			child.unread = err
			return false, &blocker{child: child.kind, reason: workload.ReasonRetrying, retryAfter: cacheReadTimeout,
				message: fmt.Sprintf("%s %q cannot be read: %v", child.kind, child.object.GetName(), err)}
		}
		child.hidden = child.exists()
	}
	held := memory.held(owner, child, now) // which is another one if the child was read just now
	if !child.exists() {
		return held == nil, held
	}
	if blocker := r.blocker(owner, child); blocker != nil {
		return false, blocker
	}
	if child.upToDate() && !memory.isBehind(child) {
		memory.release(child)
		return false, nil
	}
	if owner.GetDeletionTimestamp() != nil && metav1.GetControllerOf(child.object) == nil { // orphaned on purpose
		return false, nil
	}
	if held != nil {
		return false, held
	}
	if child.isRepair() && memory.repairsOf(child).wait() > 0 {
		if repairs := memory.repairsOf(child); repairs.contested == nil {
			repairs.contested = r.contested(ctx, child)
		}
		memory.repairsOf(child).undone = true
		return false, nil // the status tells of it until nobody contests it any more
	}
	return true, nil
}

// write makes a child as desired. The owner is known to be current.
func (r *reconciler[R]) write(ctx context.Context, owner R, child *child) error {
	ctx, cancel := context.WithTimeout(ctx, childWriteTimeout)
	defer cancel()
	reason := reasonUpdated
	var counted *repairs // of what has drifted before the repair
	switch {
	case !child.exists():
		reason = reasonCreated
	case hasUpdateManagedFields(child.object):
		return r.migrateManagedFields(ctx, child) // the event of it brings the apply
	case child.isRepair():
		reason = reasonRepaired
		counted = r.memories.of(owner).repairsOf(child)
	}
	err := r.writeFor(ctx, owner, child, reason)
	if counted != nil && isAccepted(err) {
		counted.Allow()
	}
	return err
}

// writeFor deletes a child that no update can repair, and applies any other. What an apply cannot do, a replacement or a fallback may.
func (r *reconciler[R]) writeFor(ctx context.Context, owner R, child *child, reason string) error {
	if child.unrepairable() {
		return r.delete(ctx, owner, child)
	}
	err := r.apply(ctx, owner, child, reason)
	switch {
	case reason == reasonCreated && apierrors.IsConflict(err):
		return r.findTaken(ctx, owner, child, err)
	case isRefusal(err) && !isNodePortRefused(err):
		err = r.replace(ctx, owner, child, reason, err)
	}
	return r.fallBack(ctx, owner, child, reason, err)
}

// fallBack has a child that was refused serve as far as it can. The refusal remains, and says so.
func (r *reconciler[R]) fallBack(ctx context.Context, owner R, child *child, reason string, refused error) error {
	if child.fallbacks == nil {
		return refused
	}
	fallbacks, err := child.fallbacks(ctx, r.Client, refused)
	if err != nil {
		return err
	}
	for _, fallback := range fallbacks {
		var failed error
		if !fallback.upToDate() {
			failed = r.apply(ctx, owner, fallback, reason)
		}
		if isAccepted(failed) {
			return fmt.Errorf("%w; until then it serves %s", refused, fallback.serves)
		}
		if !isRefusal(failed) {
			return failed
		}
	}
	return refused
}

// findTaken explains a conflict of a creation by the object that has the name, if it is still there.
func (r *reconciler[R]) findTaken(ctx context.Context, owner R, child *child, refused error) error {
	if err := r.apiReader.Get(ctx, client.ObjectKeyFromObject(child.object), child.object); err != nil {
		return refused
	}
	child.hidden = true
	if blocker := r.blocker(owner, child); blocker != nil {
		return blocker
	}
	return refused
}

// apply writes the fields that this operator owns and records what that changed.
func (r *reconciler[R]) apply(ctx context.Context, owner R, child *child, reason string) error {
	configuration := child.applyConfiguration(reason)
	var options []client.ApplyOption
	if reason != reasonCreated {
		options = append(options, client.ForceOwnership)
	}
	if err := r.Apply(ctx, configuration, options...); err != nil {
		return err
	}
	after := fieldsOf(configuration) // which has become the answer
	r.recordChange(ctx, owner, child, reason, diff(fieldsOf(child.object), after))
	written := unstructured.Unstructured{Object: after}
	if err := r.readWritten(ctx, child, written.GetResourceVersion()); err != nil {
		return err
	}
	if child.object.GetResourceVersion() == written.GetResourceVersion() && len(child.drifted()) > 0 {
		return child.rewritten()
	}
	return nil
}

// readWritten reads what became of a child that was written, or says that the cache does not show it yet. One that was only just
// made is looked for again anyway.
func (r *reconciler[R]) readWritten(ctx context.Context, child *child, written string) error {
	made := !child.exists()
	err := r.read(ctx, client.ObjectKeyFromObject(child.object), child.object)
	order, _ := resourceversion.CompareResourceVersion(child.object.GetResourceVersion(), written)
	switch missed := apierrors.IsNotFound(err) || errors.Is(err, context.DeadlineExceeded); {
	case missed && made:
		return nil
	case missed, err == nil && order < 0:
		return child.unseen(written)
	}
	return err
}

// delete deletes this very version of a child. The watch brings the end of it, and it is created anew. No read shall wait for
// that: the cache may not have the child, and would never forget it.
func (r *reconciler[R]) delete(ctx context.Context, owner R, child *child) error {
	err := r.Delete(ctx, child.object, client.DisableReadYourWritesConsistency, client.Preconditions{
		UID: new(child.object.GetUID()), ResourceVersion: new(child.object.GetResourceVersion())})
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	r.recordChange(ctx, owner, child, reasonDeleted, []string{"no update can repair it"})
	return child.isBeingDeleted()
}

// recordChange leaves an Event and a log line that say what became of a child, from what to what. Fields that
// only came back into this operator's ownership, with the values they had, are not recorded.
func (r *reconciler[R]) recordChange(ctx context.Context, owner R, child *child, reason string, changes []string) {
	note := fmt.Sprintf("%s %s %s", reason, child.kind, child.object.GetName())
	if reason != reasonCreated {
		if len(changes) == 0 {
			return
		}
		note += ": " + strings.Join(changes, ", ")
	}
	log.FromContext(ctx).Info(reason, "child", child.kind, "childName", child.object.GetName(), "changes", changes)
	r.events.Eventf(owner, child.object, corev1.EventTypeNormal, reason, "Apply", "%s", truncate(note, maxEventNote))
}

// maxEventNote and maxMessage are the lengths that the API server allows an Event's note and a condition's message.
const (
	maxEventNote = 1024
	maxMessage   = 32768
)

func truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len("…")], "") + "…"
}
