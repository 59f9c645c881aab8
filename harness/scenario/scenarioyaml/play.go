package scenarioyaml

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/scenario"
)

func play(step parsedStep) scenario.Step {
	switch step.action {
	case converged:
		return scenario.Step{Name: "Converged", Run: converge}
	case script:
		return playScript(step.script)
	}
	object := step.object
	about := object.GetKind() + " " + object.GetName()
	switch step.action {
	case apply:
		return scenario.Step{Name: "Apply(" + about + ")", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
			return env.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(in(env, object)), client.FieldOwner(scenario.User), client.ForceOwnership)
		}}
	case patch:
		return scenario.Step{Name: "Patch(" + about + ")", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
			text, err := json.Marshal(in(env, object))
			if err != nil {
				return err
			}
			return env.Client.Patch(ctx, in(env, object), client.RawPatch(types.MergePatchType, text))
		}}
	case remove:
		return scenario.Step{Name: "Delete(" + about + ")", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
			found, err := find(ctx, env, object)
			if err != nil {
				return err
			}
			return env.Client.Delete(ctx, found)
		}}
	case unwanted:
		return await("Error("+about+")", func(ctx context.Context, env *scenario.Env) error { return isGone(ctx, env, object) })
	default:
		return await("Assert("+about+")", func(ctx context.Context, env *scenario.Env) error { return holds(ctx, env, object) })
	}
}

func converge(ctx context.Context, env *scenario.Env) error {
	if env.Converge == nil {
		return errors.New("converged is only supported by the explorer: use assert instead")
	}
	return env.Converge(ctx)
}

// find returns the object to use in a run. If its name contains a *, find returns the oldest matching object.
func find(ctx context.Context, env *scenario.Env, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	prefix, suffix, isPattern := strings.Cut(object.GetName(), "*")
	if !isPattern {
		return in(env, object), nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(object.GroupVersionKind())
	if err := env.Client.List(ctx, list, client.InNamespace(env.Namespace)); err != nil {
		return nil, err
	}
	matching := slices.DeleteFunc(list.Items, func(item unstructured.Unstructured) bool {
		return !strings.HasPrefix(item.GetName(), prefix) || !strings.HasSuffix(item.GetName(), suffix)
	})
	if len(matching) == 0 {
		return nil, fmt.Errorf("%s %s not found", object.GetKind(), object.GetName())
	}
	oldest := slices.MinFunc(matching, func(a, b unstructured.Unstructured) int {
		return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time), strings.Compare(a.GetName(), b.GetName()))
	})
	return &oldest, nil
}

func await(name string, check func(context.Context, *scenario.Env) error) scenario.Step {
	return scenario.Step{Name: name, Run: func(ctx context.Context, env *scenario.Env) error {
		return env.WaitFor(ctx, func(ctx context.Context) error { return check(ctx, env) })
	}}
}

// in returns a copy of the object. If its kind is namespaced, the copy is in the run's namespace.
func in(env *scenario.Env, object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	if namespaced, err := env.Client.IsObjectNamespaced(object); namespaced || err != nil { // the following request fails if the kind is unknown
		object.SetNamespace(env.Namespace)
	}
	return object
}

// holds returns an error that lists the fields that do not have the asserted values.
func holds(ctx context.Context, env *scenario.Env, should *unstructured.Unstructured) error {
	is := in(env, should)
	switch err := env.Client.Get(ctx, client.ObjectKeyFromObject(is), is); {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s %s does not exist", should.GetKind(), should.GetName())
	case err != nil:
		return err
	}
	var differences []string
	asserted, _ := resolve(should.Object, is.Object, is.GetGeneration()).(map[string]any)
	for _, field := range missing(asserted, is.Object) {
		differences = append(differences, fmt.Sprintf("%s: want %s, got %s", field.Path, format(field.From), format(field.To)))
	}
	if len(differences) > 0 {
		return fmt.Errorf("%s %s: %s", should.GetKind(), should.GetName(), strings.Join(differences, "; "))
	}
	return nil
}

func isGone(ctx context.Context, env *scenario.Env, should *unstructured.Unstructured) error {
	is := in(env, should)
	switch err := env.Client.Get(ctx, client.ObjectKeyFromObject(is), is); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	}
	given, _ := resolve(should.Object, is.Object, is.GetGeneration()).(map[string]any)
	if len(missing(given, is.Object)) > 0 {
		return nil
	}
	complaint := fmt.Sprintf("%s %s still exists", is.GetKind(), is.GetName())
	if is.GetDeletionTimestamp() != nil {
		complaint += fmt.Sprintf(": it is being deleted and has finalizers %v", is.GetFinalizers())
	}
	return errors.New(complaint)
}
