package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/record"
)

const (
	// resetTimeout limits the cleanup after a run. If it expires, the control plane is discarded.
	resetTimeout = 30 * time.Second
	// resetWindow is how long nothing may change after the cleanup. A controller may be about to recreate an object.
	resetWindow = 100 * time.Millisecond
	// betweenRuns is the name under which the history records changes between two runs.
	betweenRuns = "between runs"
)

// Place is a control plane and the operator that runs on it. The fields correspond to those of Options.
type Place struct {
	ControlPlane *controlplane.ControlPlane
	Identity     *rest.Config
	Operator     Operator
	Beside       []Beside
	Prepare      func(ctx context.Context, namespace string) error
}

// place is a control plane on which runs are played.
type place struct {
	Place
	history *record.History
	// alone is true if runs have exclusive use of the cluster. Cluster-scoped objects are then part of the state.
	alone  bool
	before map[types.UID]*unstructured.Unstructured // objects that existed before the current run; only set if alone
	home   string                                   // the operator's namespace; empty to use the namespace of the run
}

func (p *place) homeOf(namespace string) string { return cmp.Or(p.home, namespace) }

// newPlace starts a control plane for exclusive use by one run at a time.
func (e *Explorer) newPlace(ctx context.Context) (*place, error) {
	started, err := e.Another(ctx)
	if err != nil {
		return nil, err
	}
	p := &place{Place: started, alone: true, home: e.Home}
	if p.home != "" {
		if err := p.ControlPlane.EnsureNamespace(ctx, p.home); err != nil {
			return nil, err
		}
	}
	resources, err := record.NewResourceLister(p.ControlPlane.Config)
	if err != nil {
		return nil, err
	}
	if p.history, err = resources.ClusterHistory(e.living, p.ControlPlane.Client); err != nil {
		return nil, err
	}
	p.history.RecordAllFor(betweenRuns)
	return p, p.history.WaitStable(ctx, betweenRuns, settleWindow)
}

// begin creates and prepares the namespace of a run.
func (p *place) begin(ctx context.Context) (string, error) {
	if p.alone {
		p.before = p.history.Known()
		p.history.RecordAllFor("") // so that the first objects in the namespace are not missed
	}
	namespace, err := p.ControlPlane.CreateNamespace(ctx, "run")
	if err == nil && p.alone {
		p.history.RecordAllFor(namespace)
	}
	if err == nil && p.Prepare != nil {
		err = p.Prepare(ctx, p.homeOf(namespace))
	}
	return namespace, err
}

// reset deletes everything that a run has created in the cluster and restores what it has modified. The operator must
// have stopped.
func (p *place) reset(ctx context.Context, namespace string) error {
	// The history does not contain the operator's own Pod and Leases.
	for _, unseen := range []client.Object{&corev1.Pod{}, &coordinationv1.Lease{}} {
		if err := p.ControlPlane.Client.DeleteAllOf(ctx, unseen, client.InNamespace(p.homeOf(namespace)), client.GracePeriodSeconds(0)); err != nil {
			return err
		}
	}
	for {
		if err := p.history.WaitFor(ctx, namespace, resetTimeout, func(ctx context.Context) error { return p.resetOnce(ctx, namespace) }); err != nil {
			return err
		}
		if err := p.history.WaitStable(ctx, namespace, resetWindow); err != nil {
			return err
		}
		if p.resetOnce(ctx, namespace) == nil {
			p.history.RecordAllFor(betweenRuns)
			p.history.KeepLatest(betweenRuns)
			return nil
		}
	}
}

// resetOnce deletes or restores the remaining objects. It returns an error until there are none left.
func (p *place) resetOnce(ctx context.Context, namespace string) error {
	var errs []error
	inside := sets.New[string]() // namespaces that still contain objects
	namespaces := []string{namespace}
	exist := p.history.Known()
	for uid := range p.before {
		if exist[uid] == nil {
			return fmt.Errorf("%s %s is gone, which was there before the run", p.before[uid].GetKind(), p.before[uid].GetName())
		}
	}
	for _, object := range p.history.Objects(namespace) {
		was := p.before[object.GetUID()]
		switch {
		case was != nil:
			errs = append(errs, p.restore(ctx, object, was))
		case object.GetKind() == "Namespace" && object.GetAPIVersion() == "v1":
			namespaces = append(namespaces, object.GetName())
		default:
			inside.Insert(object.GetNamespace())
			errs = append(errs, fmt.Errorf("%s %s is still there", object.GetKind(), object.GetName()), p.remove(ctx, object))
		}
	}
	for _, name := range namespaces {
		errs = append(errs, p.removeNamespace(ctx, name, !inside.Has(name)))
	}
	return errors.Join(errs...)
}

// remove deletes an object. If the object is already being deleted, it removes the finalizers.
func (p *place) remove(ctx context.Context, object unstructured.Unstructured) error {
	if object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) > 0 {
		nobody := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`))
		return client.IgnoreNotFound(p.ControlPlane.Client.Patch(ctx, &object, nobody))
	}
	uid := object.GetUID()
	err := p.ControlPlane.Client.Delete(ctx, &object, client.GracePeriodSeconds(0), client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if apierrors.IsConflict(err) {
		return nil // the object is gone and another object has the same name
	}
	return client.IgnoreNotFound(err)
}

// removeNamespace deletes a Namespace. It finalizes the Namespace itself, because the namespace controller would wait
// for 5 seconds.
func (p *place) removeNamespace(ctx context.Context, name string, empty bool) error {
	namespace := &corev1.Namespace{}
	switch err := p.ControlPlane.Client.Get(ctx, client.ObjectKey{Name: name}, namespace); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case namespace.DeletionTimestamp == nil:
		err = p.ControlPlane.Client.Delete(ctx, namespace)
		return errors.Join(fmt.Errorf("Namespace %s is still there", name), client.IgnoreNotFound(err))
	case !empty:
		return fmt.Errorf("Namespace %s is not empty", name)
	}
	namespace.Finalizers, namespace.Spec.Finalizers = nil, nil
	err := p.ControlPlane.Client.SubResource("finalize").Update(ctx, namespace)
	return errors.Join(fmt.Errorf("Namespace %s is still there", name), client.IgnoreNotFound(err))
}

// restore reverts all changes to an object except those in its status.
func (p *place) restore(ctx context.Context, object unstructured.Unstructured, was *unstructured.Unstructured) error {
	if equality.Semantic.DeepEqual(content(&object), content(was)) {
		return nil
	}
	again := was.DeepCopy()
	again.SetManagedFields(nil)
	again.SetResourceVersion(object.GetResourceVersion())
	return errors.Join(fmt.Errorf("%s %s is not as it was", object.GetKind(), object.GetName()), p.ControlPlane.Client.Update(ctx, again))
}

// content returns the fields of an object that users can set.
func content(object *unstructured.Unstructured) map[string]any {
	fields := maps.Clone(object.Object)
	delete(fields, "status")
	delete(fields, "metadata")
	fields["labels"], fields["annotations"] = object.GetLabels(), object.GetAnnotations()
	fields["finalizers"], fields["owners"] = object.GetFinalizers(), object.GetOwnerReferences()
	return fields
}
