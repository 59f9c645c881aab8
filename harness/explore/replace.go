package explore

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
)

// replacement deletes and recreates the resources under test as they were first applied.
type replacement struct {
	env       *environment
	namespace string
	subject   schema.GroupVersionKind
	timeout   time.Duration // limits the wait for a resource to appear in the history
	abort     context.CancelCauseFunc
	operators *sync.WaitGroup
}

// replace recreates all resources under test. A resource with a finalizer is recreated once it is gone; the operator
// may have to remove the finalizer first. An error aborts the run.
func (r *replacement) replace(ctx context.Context) {
	replace := func() error {
		resources, err := r.subjects(ctx)
		if err != nil {
			return err
		}
		for _, resource := range resources {
			if err := r.env.config.ControlPlane.Client.Delete(ctx, resource); client.IgnoreNotFound(err) != nil {
				return err
			}
			again, err := r.createAgain(ctx, resource)
			if err != nil {
				return err
			}
			if again != nil {
				r.operators.Go(func() { r.abortOn(ctx, again()) })
			}
		}
		return nil
	}
	r.abortOn(ctx, replace())
}

func (r *replacement) abortOn(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		r.abort(stepError{fault.Replaced.Name(), fmt.Errorf("%s: %w", fault.Replaced.Name(), err)})
	}
}

// subjects returns the first version of each resource under test, without the fields set by the API server and the
// operator.
func (r *replacement) subjects(ctx context.Context) ([]*unstructured.Unstructured, error) {
	var live unstructured.UnstructuredList
	live.SetGroupVersionKind(r.subject.GroupVersion().WithKind(r.subject.Kind + "List"))
	if err := r.env.config.ControlPlane.Client.List(ctx, &live, client.InNamespace(r.namespace)); err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	err := r.env.history.WaitFor(ctx, r.namespace, r.timeout, func(context.Context) error { // the history may not yet contain the resource
		all = nil
		history := r.env.history.Versions(r.namespace)
		for _, resource := range live.Items {
			first := slices.IndexFunc(history, func(version record.ObjectVersion) bool { return version.GetUID() == resource.GetUID() })
			switch {
			case r.env.before[resource.GetUID()] != nil: // created before the run
			case first < 0:
				return fmt.Errorf("%s %s is not in the history", resource.GetKind(), resource.GetName())
			case !isOfEveryNamespace(history[first]):
				all = append(all, asApplied(history[first].Unstructured))
			}
		}
		return nil
	})
	return all, err
}

func asApplied(resource *unstructured.Unstructured) *unstructured.Unstructured {
	resource = resource.DeepCopy()
	delete(resource.Object, "status")
	resource.SetFinalizers(nil)
	resource.SetManagedFields(nil)
	resource.SetResourceVersion("")
	resource.SetUID("")
	resource.SetCreationTimestamp(metav1.Time{})
	resource.SetGeneration(0)
	return resource
}

// createAgain recreates a deleted resource. If the old resource still exists, it returns a function that waits until
// the resource can be created.
func (r *replacement) createAgain(ctx context.Context, resource *unstructured.Unstructured) (wait func() error, _ error) {
	create := func() (changed <-chan struct{}, err error) {
		changed, _ = r.env.history.Changed(r.namespace)
		return changed, r.env.config.ControlPlane.Client.Create(ctx, resource.DeepCopy())
	}
	changed, err := create()
	if !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	return func() error {
		for apierrors.IsAlreadyExists(err) {
			select {
			case <-changed:
				changed, err = create()
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return err
	}, nil
}
