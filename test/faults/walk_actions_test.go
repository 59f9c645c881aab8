package faults_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
)

const maxPods = 2

// walkResource is a resource that a walk may create, with its expected state.
type walkResource struct {
	subject
	name   string
	exists bool
	uid    types.UID
	pods   int64
	image  string
}

// walkResources returns the resources that a walk may create. Their names differ, because a WebServer and a Memcached
// with the same name would conflict.
func walkResources() []*walkResource {
	var resources []*walkResource
	for _, s := range subjects {
		for i := range 2 {
			resources = append(resources, &walkResource{subject: s, name: fmt.Sprintf("%s-%d", s.container(), i+1)})
		}
	}
	return resources
}

func (s subject) container() string { return strings.ToLower(s.Kind) }

func (r *walkResource) String() string {
	return fmt.Sprintf("%s with %d Pods of %s", r.name, r.pods, r.image)
}

func (r *walkResource) object(namespace string) *unstructured.Unstructured {
	object := r.subjectWith(namespace, map[string]any{r.Replicas: r.pods, "image": r.image})
	object.SetName(r.name)
	return object
}

// concerns reports whether an object is the resource, its Deployment or a descendant of the Deployment.
func (r *walkResource) concerns(version record.ObjectVersion) bool {
	switch version.GetKind() {
	case r.Kind, "Deployment":
		return version.GetName() == r.name
	case "ReplicaSet", "Pod":
		return version.GetLabels()["app.kubernetes.io/instance"] == r.name
	}
	return false
}

// walkActions lists the possible actions of a walk. The action "converge" waits until the operator has handled the
// previous actions. The others do not wait. An action does nothing if the walk has no suitable resource.
var walkActions = []func(*walk) error{
	(*walk).converge, (*walk).create, (*walk).remove, (*walk).recreate, (*walk).scale, (*walk).changeImage,
	(*walk).removeChild, (*walk).tamper, (*walk).endOperator, (*walk).injectFault,
}

// withAny calls do for a random resource whose exists field has the given value, if there is one.
func (w *walk) withAny(exists bool, do func(*walkResource) error) error {
	candidates := slices.DeleteFunc(slices.Clone(w.resources), func(r *walkResource) bool { return r.exists != exists })
	if len(candidates) == 0 {
		return nil
	}
	return do(candidates[w.random.IntN(len(candidates))])
}

func (w *walk) create() error { return w.withAny(false, w.createResource) }

func (w *walk) createResource(r *walkResource) error {
	r.exists, r.pods, r.image = true, w.random.Int64N(maxPods+1), []string{r.Images.From, r.Images.To}[w.random.IntN(2)]
	w.note("create %s", r)
	object := r.object(w.namespace)
	err := plane.Client.Create(w.ctx, object)
	r.uid = object.GetUID()
	return err
}

func (w *walk) remove() error { return w.withAny(true, w.removeResource) }

func (w *walk) removeResource(r *walkResource) error {
	r.exists = false
	w.deleted.Insert(r.uid)
	w.note("delete %s", r.name)
	return plane.Client.Delete(w.ctx, r.object(w.namespace))
}

func (w *walk) recreate() error {
	return w.withAny(true, func(r *walkResource) error { return errors.Join(w.removeResource(r), w.createResource(r)) })
}

func (w *walk) scale() error {
	return w.change(func(r *walkResource) { r.pods = (r.pods + 1 + w.random.Int64N(maxPods)) % (maxPods + 1) })
}

func (w *walk) changeImage() error {
	return w.change(func(r *walkResource) {
		r.image = map[string]string{r.Images.From: r.Images.To, r.Images.To: r.Images.From}[r.image]
	})
}

func (w *walk) change(do func(*walkResource)) error {
	return w.withAny(true, func(r *walkResource) error {
		do(r)
		w.note("change to %s", r)
		patch := fmt.Sprintf(`{"spec": {"%s": %d, "image": "%s"}}`, r.Replicas, r.pods, r.image)
		return plane.Client.Patch(w.ctx, r.object(w.namespace), mergePatch(patch), client.FieldOwner(scenario.User))
	})
}

func (w *walk) removeChild() error {
	return w.changeChild("delete", func(child *metav1.PartialObjectMetadata, _ string) error {
		err := plane.Client.Get(w.ctx, client.ObjectKeyFromObject(child), child)
		if err == nil {
			err = plane.Client.Delete(w.ctx, child, client.Preconditions{UID: &child.UID})
		}
		if err == nil {
			w.deleted.Insert(child.UID)
		}
		return err
	})
}

// tampering contains strategic merge patches that change or remove fields that the operator must restore.
var tampering = map[string][]string{
	"Deployment": {
		`{"spec": {"replicas": 5}}`,
		`{"spec": {"template": {"spec": {"containers": [{"name": "CONTAINER", "image": "tampered:1"}]}}}}`,
		`{"metadata": {"labels": {"app.kubernetes.io/managed-by": null}}}`,
	},
	"Service": {
		`{"spec": {"selector": {"app": "tampered"}}}`,
		`{"spec": {"type": "ClusterIP"}}`,
		`{"metadata": {"labels": {"app.kubernetes.io/managed-by": null}}}`,
	},
}

func (w *walk) tamper() error {
	nth := w.random.IntN(3)
	return w.changeChild(fmt.Sprintf("apply tampering patch %d to", nth), func(child *metav1.PartialObjectMetadata, container string) error {
		patch := strings.ReplaceAll(tampering[child.Kind][nth], "CONTAINER", container)
		return plane.Client.Patch(w.ctx, child, client.RawPatch(types.StrategicMergePatchType, []byte(patch)), client.FieldOwner("kubectl-edit"))
	})
}

var childKinds = map[string]schema.GroupVersionKind{
	"Deployment": appsv1.SchemeGroupVersion.WithKind("Deployment"),
	"Service":    corev1.SchemeGroupVersion.WithKind("Service"),
}

// changeChild calls a function for a child of a random resource. It ignores conflicts and children that do not exist.
func (w *walk) changeChild(verb string, do func(child *metav1.PartialObjectMetadata, container string) error) error {
	return w.withAny(true, func(r *walkResource) error {
		child := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: r.name}}
		child.SetGroupVersionKind(childKinds["Deployment"])
		if r.Kind == "WebServer" && w.random.IntN(2) == 0 {
			child.SetGroupVersionKind(childKinds["Service"])
			child.Name += "-service"
		}
		w.note("%s %s %s", verb, child.Kind, child.Name)
		if err := do(child, r.container()); !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return err
		}
		return nil
	})
}

// endOperator kills the operator or stops it gracefully, and supervise starts a new instance.
func (w *walk) endOperator() error {
	end, description := w.restart, "stop the operator gracefully"
	if w.random.IntN(2) == 0 {
		end, description = w.kill, "kill the operator"
	}
	w.note("%s", description)
	select {
	case end <- struct{}{}:
		return nil
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	}
}

// injectFault replaces the current fault with a random one. The fault affects a watch or repeats of a request that the
// operator has already sent. The number of these requests varies between runs, so injectFault uses a separate random
// number generator. Otherwise, a rerun with the same seed could perform different actions.
func (w *walk) injectFault() error {
	random := rand.New(rand.NewPCG(w.seed, w.random.Uint64()))
	next := fault.Fault{Type: fault.Types()[random.IntN(len(fault.Types()))]}
	ref := &fault.Reference{Actions: 1, HasSubject: true, Choose: random.IntN}
	sent := slices.SortedFunc(maps.Keys(w.injector.Journal.RequestCounts()), func(a, b fault.RequestKey) int { return cmp.Compare(a.String(), b.String()) })
	var watches []fault.RequestKey
	for _, key := range sent {
		key.Nth = 1
		switch request := (record.Request{Verb: key.Verb}); {
		case request.IsWrite():
			ref.Writes = append(ref.Writes, key)
		case key.Verb == "watch":
			watches = append(watches, key)
		case key.Verb == "get":
			ref.Reads = append(ref.Reads, key)
		}
	}
	points := watches
	if !next.OfWatch() {
		points = next.Type.Points(ref)
	}
	if len(points) == 0 || next.OfWatch() && !w.hasStaleWatches() {
		return nil
	}
	next.At = points[random.IntN(len(points))]
	w.note("inject %s", next)
	w.injector.SetFault(next)
	return nil
}
