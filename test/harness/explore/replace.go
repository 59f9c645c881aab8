package explore

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/test/harness/faultinject"
)

// replaceSubject deletes the scenario's resources and creates them again as they first were. A resource with a finalizer is
// created again when it is gone, which may need the operator. A failure ends the run.
func (r *run) replaceSubject(ctx context.Context) {
	replace := func() error {
		for _, resource := range r.subjects() {
			if err := r.at.ControlPlane.Client.Delete(ctx, resource); client.IgnoreNotFound(err) != nil {
				return err
			}
			again, err := r.createAgain(ctx, resource)
			if err != nil {
				return err
			}
			if again != nil {
				r.running.Go(func() { r.stopUnless(ctx, again()) })
			}
		}
		return nil
	}
	r.stopUnless(ctx, replace())
}

// stopUnless ends the run if something failed before its end.
func (r *run) stopUnless(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		select {
		case r.fatal <- fmt.Errorf("%s: %w", faultinject.Replaced, err):
		default:
		}
	}
}

// subjects are the resources that the scenario is about, each as it first was, without what the API server adds.
func (r *run) subjects() []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	known := map[string]bool{}
	for _, version := range r.at.history.Versions(r.namespace) {
		if version.GroupVersionKind().GroupKind() != r.Subject.GroupKind() || known[version.GetName()] || isOfEveryNamespace(version) {
			continue
		}
		known[version.GetName()] = true
		resource := version.DeepCopy()
		delete(resource.Object, "status")
		resource.SetFinalizers(nil)
		resource.SetManagedFields(nil)
		resource.SetResourceVersion("")
		resource.SetUID("")
		resource.SetCreationTimestamp(metav1.Time{})
		resource.SetGeneration(0)
		all = append(all, resource)
	}
	return all
}

// createAgain creates a deleted resource. If that has not gone yet, it returns what waits for it.
func (r *run) createAgain(ctx context.Context, resource *unstructured.Unstructured) (wait func() error, _ error) {
	create := func() (changed <-chan struct{}, err error) {
		changed, _ = r.at.history.Changed(r.namespace)
		return changed, r.at.ControlPlane.Client.Create(ctx, resource.DeepCopy())
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
