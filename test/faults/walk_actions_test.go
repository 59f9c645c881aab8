package faults

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mostPods is how many a resource asks for at the most.
const mostPods = 3

// actions are what can happen in a walk. What is drawn depends on the model alone, so that the same draws
// make the same walk, whatever the operator has done by then.
func (w *walk) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"calm":         w.awaitCalm,
		"change image": w.changeImage,
		"create":       func(t *rapid.T) { w.create(t, w.one(t, func(r *wanted) bool { return r.uid == "" })) },
		"delete":       func(t *rapid.T) { w.remove(t, w.one(t, existing)) },
		"delete child": w.deleteChild,
		"end operator": w.endOperator,
		"fault":        w.dealFault,
		"foreign edit": func(t *rapid.T) { w.edited = append(w.edited, w.editChild(t, foreign)...) },
		"recreate":     w.recreate,
		"scale":        w.scale,
		"tamper":       func(t *rapid.T) { w.editChild(t, tampering) },
	}
}

// existing are the resources that exist, grown those that also had their children when all was calm.
func existing(r *wanted) bool { return r.uid != "" }
func grown(r *wanted) bool    { return r.grown }

// one draws one of the resources that are so.
func (w *walk) one(t *rapid.T, so func(*wanted) bool) *wanted {
	var candidates []*wanted
	for _, r := range w.resources {
		if so(r) {
			candidates = append(candidates, r)
		}
	}
	if len(candidates) == 0 {
		t.Skip("there is no such resource")
	}
	return rapid.SampledFrom(candidates).Draw(t, "resource")
}

func (w *walk) awaitCalm(t *rapid.T) {
	if w.isCalm {
		t.Skip("it is")
	}
	w.tell("wait until all is calm")
	ctx, cancel := context.WithTimeout(w.ctx, endless)
	defer cancel()
	w.check(t, w.calm(ctx))
	w.check(t, w.judge())
	w.isCalm = true
	for _, r := range w.resources {
		r.grown = existing(r)
	}
}

func (w *walk) create(t *rapid.T, r *wanted) {
	r.pods = rapid.Int64Range(0, mostPods).Draw(t, "Pods")
	r.image = rapid.SampledFrom([]string{r.images.First, r.images.Second}).Draw(t, "image")
	w.tell("create %s with %d Pods of %s", r.name, r.pods, r.image)
	object := w.object(r, map[string]any{r.replicas: r.pods, "image": r.image})
	w.check(t, plane.Client.Create(w.ctx, object))
	r.uid = object.GetUID()
	w.written[r.uid] = object.GetResourceVersion()
}

func (w *walk) recreate(t *rapid.T) {
	r := w.one(t, existing)
	w.remove(t, r)
	w.create(t, r)
}

func (w *walk) remove(t *rapid.T, r *wanted) {
	w.tell("delete %s", r.name)
	w.check(t, plane.Client.Delete(w.ctx, w.object(r, nil)))
	w.deleted[r.uid] = true
	r.uid, r.grown = "", false
}

func (w *walk) scale(t *rapid.T) {
	r := w.one(t, existing)
	r.pods = (r.pods + rapid.Int64Range(1, mostPods).Draw(t, "more Pods")) % (mostPods + 1)
	w.tell("scale %s to %d", r.name, r.pods)
	w.edit(t, r, fmt.Sprintf(`{"spec": {"%s": %d}}`, r.replicas, r.pods))
}

func (w *walk) changeImage(t *rapid.T) {
	r := w.one(t, existing)
	if r.image == r.images.First {
		r.image = r.images.Second
	} else {
		r.image = r.images.First
	}
	w.tell("change the image of %s to %s", r.name, r.image)
	w.edit(t, r, fmt.Sprintf(`{"spec": {"image": "%s"}}`, r.image))
}

// edit changes a resource, as its user does.
func (w *walk) edit(t *rapid.T, r *wanted, patch string) {
	object := w.object(r, nil)
	w.check(t, plane.Client.Patch(w.ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("assay-user")))
	w.written[r.uid] = object.GetResourceVersion()
}

// deleteChild deletes a child behind the operator's back.
func (w *walk) deleteChild(t *rapid.T) {
	r := w.one(t, grown)
	child := w.child(r, rapid.SampledFrom(r.children()).Draw(t, "child"))
	w.tell("delete %s %s", child.Kind, child.Name)
	err := plane.Client.Get(w.ctx, client.ObjectKeyFromObject(child), child)
	if err == nil {
		err = plane.Client.Delete(w.ctx, child, client.Preconditions{UID: &child.UID})
	}
	switch {
	case err == nil:
		w.deleted[child.UID] = true
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		w.note("which is not there")
	default:
		w.check(t, err)
	}
}

// editChild makes one of the edits of a child behind the operator's back, and gives it back, if there is one.
func (w *walk) editChild(t *rapid.T, edits []edit) (done []edited) {
	r := w.one(t, grown)
	e := rapid.SampledFrom(r.editsOf(edits)).Draw(t, "edit")
	child := w.child(r, e.of)
	w.tell("%s of %s %s", e.says, child.Kind, child.Name)
	err := plane.Client.Patch(w.ctx, child, client.RawPatch(types.StrategicMergePatchType, r.patchOf(e)), client.FieldOwner("kubectl-edit"))
	switch {
	case err == nil:
		w.written[child.UID] = child.ResourceVersion
		done = append(done, edited{child.UID, e})
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		w.note("which is not there")
	default:
		w.check(t, err)
	}
	return done
}

// child is a child of a resource, by its name alone.
func (w *walk) child(r *wanted, kind string) *metav1.PartialObjectMetadata {
	child := &metav1.PartialObjectMetadata{}
	child.SetGroupVersionKind(childKinds[kind])
	child.Namespace, child.Name = w.namespace, r.childName(kind)
	return child
}

// endOperator has the operator end, in one way or the other; the next incarnation starts at once.
func (w *walk) endOperator(t *rapid.T) {
	end := w.kill
	if rapid.Bool().Draw(t, "orderly") {
		w.tell("restart the operator")
		end = w.restart
	} else {
		w.tell("kill the operator")
	}
	select {
	case end <- struct{}{}:
	case <-w.ctx.Done():
	}
}
