package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
)

// replace deletes all resources under test and recreates them as they were first applied. An error aborts the run.
func (r *run) replace(ctx context.Context) {
	resources, err := r.subjects(ctx)
	for _, resource := range resources {
		err = errors.Join(err, r.recreate(ctx, resource))
	}
	r.abortOn(ctx, err)
}

// recreate deletes a resource and creates it again. If a finalizer delays the deletion, recreate creates the resource
// in the background, because the operator may have to remove the finalizer first.
func (r *run) recreate(ctx context.Context, resource *unstructured.Unstructured) error {
	user := r.env.config.ControlPlane.Client
	if err := user.Delete(ctx, resource); client.IgnoreNotFound(err) != nil {
		return err
	}
	changed, _ := r.env.history.Changed(r.recording.namespace)
	err := user.Create(ctx, resource.DeepCopy())
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	r.player.operators.Go(func() {
		for apierrors.IsAlreadyExists(err) {
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
			changed, _ = r.env.history.Changed(r.recording.namespace)
			err = user.Create(ctx, resource.DeepCopy())
		}
		r.abortOn(ctx, err)
	})
	return nil
}

func (r *run) abortOn(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		r.abort(stepError{fault.Replaced.Name(), fmt.Errorf("%s: %w", fault.Replaced.Name(), err)})
	}
}

// subjects returns the first version of each resource under test, as the user applied it.
func (r *run) subjects(ctx context.Context) ([]*unstructured.Unstructured, error) {
	var live unstructured.UnstructuredList
	subject := r.attempt.scenario.Subject
	live.SetGroupVersionKind(subject.GroupVersion().WithKind(subject.Kind + "List"))
	if err := r.env.config.ControlPlane.Client.List(ctx, &live, client.InNamespace(r.recording.namespace)); err != nil {
		return nil, err
	}
	var all []*unstructured.Unstructured
	err := r.env.history.WaitFor(ctx, r.recording.namespace, r.player.options.StepTimeout, func(context.Context) error { // the history may not yet contain the resource
		all = nil
		history := r.env.history.Versions(r.recording.namespace)
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
	finalizers := slices.DeleteFunc(resource.GetFinalizers(), func(finalizer string) bool { return !oracle.IsSetBy(scenario.User, *resource, finalizer) })
	resource = resource.DeepCopy()
	delete(resource.Object, "status")
	for _, field := range []string{"creationTimestamp", "finalizers", "generation", "managedFields", "resourceVersion", "uid"} {
		unstructured.RemoveNestedField(resource.Object, "metadata", field)
	}
	if len(finalizers) > 0 {
		resource.SetFinalizers(finalizers)
	}
	return resource
}
