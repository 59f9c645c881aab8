package faults_test

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/fault"
)

// The following methods are the actions of a plan. Only waitAndCheck waits for the effects of the actions.

func (w *walk) waitAndCheck() error {
	ctx, cancel := context.WithTimeout(w.ctx, walkTimeout)
	defer cancel()
	if err := w.waitConverged(ctx); err != nil {
		return err
	}
	return w.checkInvariants()
}

func (w *walk) create(want desiredResource) error {
	object := want.object(w.namespace)
	if err := plane.Client.Create(w.ctx, object); err != nil {
		return err
	}
	w.existing[want.name] = &liveResource{want, object.GetUID()}
	w.writtenVersions[object.GetUID()] = object.GetResourceVersion()
	return nil
}

func (w *walk) change(want desiredResource) error {
	r := w.existing[want.name]
	r.desiredResource = want
	object := want.object(w.namespace)
	patch := fmt.Sprintf(`{"spec": {"%s": %d, "image": "%s"}}`, want.Replicas, want.pods, want.image)
	err := plane.Client.Patch(w.ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("assay-user"))
	w.writtenVersions[r.uid] = object.GetResourceVersion()
	return err
}

func (w *walk) remove(name string) error {
	r := w.existing[name]
	delete(w.existing, name)
	w.deleted[r.uid] = true
	return plane.Client.Delete(w.ctx, r.object(w.namespace))
}

// removeChild deletes a child directly, without changing its owner.
func (w *walk) removeChild(kind, name string) error {
	child := w.child(kind, name)
	err := plane.Client.Get(w.ctx, client.ObjectKeyFromObject(child), child)
	if err == nil {
		err = plane.Client.Delete(w.ctx, child, client.Preconditions{UID: &child.UID})
	}
	if err == nil {
		w.deleted[child.UID] = true
	}
	return w.ignoreMissing(err)
}

func (w *walk) editChild(e edit, name string, patch []byte) error {
	child := w.child(e.childKind, name)
	err := plane.Client.Patch(w.ctx, child, client.RawPatch(types.StrategicMergePatchType, patch), client.FieldOwner("kubectl-edit"))
	if err == nil {
		w.writtenVersions[child.UID] = child.ResourceVersion
		w.edited = append(w.edited, editedChild{child.UID, e})
	}
	return w.ignoreMissing(err)
}

func (w *walk) child(kind, name string) *metav1.PartialObjectMetadata {
	child := &metav1.PartialObjectMetadata{}
	child.SetGroupVersionKind(childKinds[kind])
	child.Namespace, child.Name = w.namespace, name
	return child
}

func (w *walk) ignoreMissing(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		w.trace[len(w.trace)-1] += " (does not exist)"
		return nil
	}
	return err
}

// endOperator kills or restarts the operator. A new instance starts immediately.
func (w *walk) endOperator(end chan<- struct{}) error {
	select {
	case end <- struct{}{}:
		return nil
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	}
}

// setFault injects a fault, which replaces the previous one.
func (w *walk) setFault(next fault.Fault) error {
	if next.At.Verb == "watch" && !w.staleWatch {
		if err := w.checkInvariants(); err != nil { // check the previous versions with the strict invariants, which a stale watch may violate
			return err
		}
		w.staleWatch = true
	}
	w.injector.SetFault(next)
	return nil
}
