package faults

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/test/harness/faultinject"
)

// What a plan's actions do in a walk. None waits for what comes of it, but awaitCalm.

func (w *walk) awaitCalm() error {
	ctx, cancel := context.WithTimeout(w.ctx, endless)
	defer cancel()
	if err := w.calm(ctx); err != nil {
		return err
	}
	return w.judge()
}

func (w *walk) create(want wanted) error {
	object := want.object(w.namespace)
	if err := plane.Client.Create(w.ctx, object); err != nil {
		return err
	}
	w.present[want.name] = &present{want, object.GetUID()}
	w.written[object.GetUID()] = object.GetResourceVersion()
	return nil
}

func (w *walk) change(want wanted) error {
	r := w.present[want.name]
	r.wanted = want
	object := want.object(w.namespace)
	patch := fmt.Sprintf(`{"spec": {"%s": %d, "image": "%s"}}`, want.replicas, want.pods, want.image)
	err := plane.Client.Patch(w.ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("assay-user"))
	w.written[r.uid] = object.GetResourceVersion()
	return err
}

func (w *walk) remove(name string) error {
	r := w.present[name]
	delete(w.present, name)
	w.deleted[r.uid] = true
	return plane.Client.Delete(w.ctx, r.object(w.namespace))
}

// removeChild deletes a child behind the operator's back.
func (w *walk) removeChild(kind, name string) error {
	child := w.child(kind, name)
	err := plane.Client.Get(w.ctx, client.ObjectKeyFromObject(child), child)
	if err == nil {
		err = plane.Client.Delete(w.ctx, child, client.Preconditions{UID: &child.UID})
	}
	if err == nil {
		w.deleted[child.UID] = true
	}
	return w.unlessAway(err)
}

// editChild changes a child behind the operator's back.
func (w *walk) editChild(e edit, name string, patch []byte) error {
	child := w.child(e.of, name)
	err := plane.Client.Patch(w.ctx, child, client.RawPatch(types.StrategicMergePatchType, patch), client.FieldOwner("kubectl-edit"))
	if err == nil {
		w.written[child.UID] = child.ResourceVersion
		w.edited = append(w.edited, edited{child.UID, e})
	}
	return w.unlessAway(err)
}

// child is a child by its name alone.
func (w *walk) child(kind, name string) *metav1.PartialObjectMetadata {
	child := &metav1.PartialObjectMetadata{}
	child.SetGroupVersionKind(childKinds[kind])
	child.Namespace, child.Name = w.namespace, name
	return child
}

// unlessAway forgives that there is no such child at the moment.
func (w *walk) unlessAway(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		w.story[len(w.story)-1] += ", which is not there"
		return nil
	}
	return err
}

// endOperator has the operator end, in one way or the other; the next incarnation starts at once.
func (w *walk) endOperator(end chan<- struct{}) error {
	select {
	case end <- struct{}{}:
		return nil
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	}
}

// deal has a fault befall the operator from now on.
func (w *walk) deal(fault faultinject.Fault) error {
	if fault.At.Verb == "watch" && !w.lags {
		if err := w.judge(); err != nil { // by what holds as long as none lags
			return err
		}
		w.lags = true
	}
	w.wire.SetFault(fault)
	return nil
}
