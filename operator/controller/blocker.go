package controller

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/operator-assay/assay/operator/api/workload"
)

// blocker is what keeps a child from being as desired until somebody or something else acts.
type blocker struct {
	child           string // its kind
	reason, message string
	// needsUser reports that a person may have to act. Other blockers pass by themselves.
	needsUser bool
	// retryAfter is when to look again. If it is 0, hold sets it, twice as long each time.
	retryAfter time.Duration
	// written is the version of the child that the cache does not show yet. It is empty when something else blocks.
	written string
}

func (b *blocker) Error() string { return b.reason + ": " + b.message }

// isSeen reports whether the cache shows by now what was written.
func (b *blocker) isSeen(child *child) bool {
	order, err := resourceversion.CompareResourceVersion(child.object.GetResourceVersion(), b.written)
	return err == nil && order >= 0
}

// isBeingDeleted is the blocker of a child that is made anew when it has gone.
func (c *child) isBeingDeleted() *blocker {
	return &blocker{child: c.kind, reason: workload.ReasonWaitingForDeletion,
		message:    fmt.Sprintf("the previous %s %q is being deleted", c.kind, c.object.GetName()),
		retryAfter: cacheReadTimeout} // earlier, when the watch brings the end of it
}

// after has the reconcile repeated after delay, if that is not zero, or as soon as a blocker may be gone.
func after(delay time.Duration, blockers []*blocker) ctrl.Result {
	for _, blocker := range blockers {
		if delay == 0 || blocker.retryAfter < delay {
			delay = blocker.retryAfter
		}
	}
	return ctrl.Result{RequeueAfter: delay}
}

// blocker returns why the object, which exists, must not be written; nil when it may be.
func (r *reconciler[R]) blocker(owner R, child *child) *blocker {
	ours := child.isControlledBy(owner)
	deleted := child.object.GetDeletionTimestamp() != nil
	switch {
	case ours && !deleted:
		return nil
	case ours, child.isOwnedByPredecessor(owner, r.GroupKind()):
		waiting := child.isBeingDeleted()
		if held := slices.DeleteFunc(slices.Clone(child.object.GetFinalizers()), isCollectors); deleted && len(held) > 0 {
			waiting.retryAfter = 0
			waiting.needsUser = time.Since(child.object.GetDeletionTimestamp().Time) > transientFailure
			waiting.message += fmt.Sprintf(" and waits for the finalizers %v: see that their controllers run, or remove them", held)
		}
		return waiting
	default:
		return &blocker{child: child.kind, reason: workload.ReasonNotControlled, needsUser: true,
			message: fmt.Sprintf("%s %q exists and is not controlled by this %s: delete it, or give this %s another name",
				child.kind, child.object.GetName(), r.Kind, r.Kind)}
	}
}

// classifyError turns an error of a request into a blocker, so that the status reports it: what the API server
// refuses, a person may have to change; anything else is expected to pass, though not for ever.
func (r *reconciler[R]) classifyError(owner R, child *child, err error) *blocker {
	refused := &blocker{child: child.kind, reason: workload.ReasonRejected, needsUser: true,
		message: fmt.Sprintf("the API server refuses the %s: %v", child.kind, err)}
	retrying := &blocker{child: child.kind, reason: workload.ReasonRetrying,
		message: fmt.Sprintf("%s %q: %v", child.kind, child.object.GetName(), err)}
	var itself *blocker
	switch {
	case err == nil:
		return nil
	case errors.As(err, &itself):
		return itself
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// It never accepts the child again, and the owner is deleted with it.
		return &blocker{child: child.kind, reason: workload.ReasonWaitingForDeletion, message: "the namespace is being deleted", retryAfter: maxDelay}
	case apierrors.IsInvalid(err), apierrors.IsForbidden(err), apierrors.IsBadRequest(err):
		return refused
	case errors.Is(err, context.DeadlineExceeded):
		// A webhook that held a worker for so long is not asked again at once, and ever more seldom.
		refused.message = fmt.Sprintf("the %s is not written within %s: see which admission webhook is slow, or whether the API server is busy: %v", child.kind, childWriteTimeout, err)
		delay := min(max(childWriteTimeout, r.memories.of(owner).failingFor(child, time.Now())), maxDelay)
		refused.retryAfter, retrying.retryAfter = delay, delay
		fallthrough
	case apierrors.IsInternalError(err):
		// A webhook that fails for a moment, or one that is broken.
		if r.memories.of(owner).failingFor(child, time.Now()) > transientFailure {
			return refused
		}
		return retrying
	default:
		return retrying
	}
}

var number = regexp.MustCompile(`[0-9a-f]*[0-9][0-9a-f]*`)

// sameWords compares messages but for their numbers: two errors of one cause often differ in a port or an ID.
func sameWords(a, b string) bool {
	return number.ReplaceAllString(a, "#") == number.ReplaceAllString(b, "#")
}
