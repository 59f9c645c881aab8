package scenarioyaml

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/test/harness/scenario"
)

// user is the field owner under which the scenarios' user applies objects.
const user = client.FieldOwner("assay-user")

// The actions of a step. The schema has them, too.
const (
	apply     = "apply"
	patch     = "patch"
	assert    = "assert"
	remove    = "delete"
	absent    = "absent"
	converged = "converged"
)

var (
	actions = []string{apply, patch, assert, remove, absent, converged}
	choice  = "a step is one of " + strings.Join(actions, ", ")
)

// parseStep returns a step's action and its object, which for some actions is only an identity.
func parseStep(raw json.RawMessage) (action string, object *unstructured.Unstructured, err error) {
	var given map[string]map[string]any
	if err := decode(raw, &given); err != nil {
		return "", nil, err
	}
	named := slices.Sorted(maps.Keys(given))
	switch len(named) {
	case 0:
		return "", nil, errors.New("no action: " + choice)
	case 1:
		action = named[0]
	default:
		return "", nil, fmt.Errorf("%d actions (%s): give each a step of its own", len(named), strings.Join(named, ", "))
	}
	fields := given[action]
	if err := utiljson.ConvertMapNumbers(fields, 0); err != nil {
		return "", nil, err
	}
	nameField := "metadata.name"
	switch action {
	case converged:
		if len(fields) > 0 {
			return "", nil, errors.New("converged takes no fields: write {}")
		}
		return action, nil, nil
	case apply, patch, assert:
	case remove, absent:
		nameField = "name"
		if fields, err = identity(action, fields); err != nil {
			return "", nil, err
		}
	default:
		return "", nil, fmt.Errorf("%s is no action: %s", action, choice)
	}
	object = &unstructured.Unstructured{Object: fields}
	return action, object, check(action, object, nameField)
}

// identity converts {apiVersion, kind, name} to an object.
func identity(action string, fields map[string]any) (map[string]any, error) {
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains([]string{"apiVersion", "kind", "name"}, field) {
			return nil, fmt.Errorf("%s takes apiVersion, kind and name, not %s", action, field)
		}
	}
	return map[string]any{
		"apiVersion": fields["apiVersion"],
		"kind":       fields["kind"],
		"metadata":   map[string]any{"name": fields["name"]},
	}, nil
}

func check(action string, object *unstructured.Unstructured, nameField string) error {
	var missing []string
	for _, field := range []struct{ name, value string }{
		{"apiVersion", object.GetAPIVersion()}, {"kind", object.GetKind()}, {nameField, object.GetName()},
	} {
		if field.value == "" {
			missing = append(missing, field.name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%s needs %s, as text that is not empty", action, strings.Join(missing, ", "))
	}
	if object.GetNamespace() != "" {
		return fmt.Errorf("%s names a namespace: leave it out, for every run has its own", action)
	}
	_, err := schema.ParseGroupVersion(object.GetAPIVersion())
	return err
}

// objects are those of a scenario, by kind and name, as its steps so far leave them.
type objects map[string]*unstructured.Unstructured

// step returns the next step of the scenario.
func (o objects) step(action string, object *unstructured.Unstructured) scenario.Step {
	if action == converged {
		return scenario.Step{Name: "Converged", Run: converge}
	}
	about := object.GetKind() + " " + object.GetName()
	key := object.GetAPIVersion() + " " + about
	switch action {
	case apply:
		note := describeChanges(object, o[key])
		o[key] = object
		return scenario.Step{Name: "Apply(" + about + ")", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
			env.Detailf("%s", note)
			return env.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(in(env, object)), user, client.ForceOwnership)
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
		delete(o, key)
		return scenario.Step{Name: "Delete(" + about + ")", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
			found, err := find(ctx, env, object)
			if err != nil {
				return err
			}
			return env.Client.Delete(ctx, found)
		}}
	case absent:
		return await("Absent("+about+")", func(ctx context.Context, env *scenario.Env) error { return isAbsent(ctx, env, object) })
	default:
		return await("Assert("+about+")", func(ctx context.Context, env *scenario.Env) error { return holds(ctx, env, object) })
	}
}

// converge waits until nothing changes any more.
func converge(ctx context.Context, env *scenario.Env) error {
	if env.Converge == nil {
		return errors.New("only the explorer can tell when an operator has converged: assert a state instead")
	}
	return env.Converge(ctx)
}

// find returns the object of a run. A name may have one *, for what the API server generated; of several such objects
// it is the oldest.
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
		return nil, fmt.Errorf("there is no %s %s", object.GetKind(), object.GetName())
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

// in returns a copy of the object in a run's namespace, if its kind has one.
func in(env *scenario.Env, object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	if namespaced, err := env.Client.IsObjectNamespaced(object); namespaced || err != nil { // an unknown kind is refused by what follows
		object.SetNamespace(env.Namespace)
	}
	return object
}

// holds returns which fields do not have the asserted values.
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

// isAbsent returns why an object still exists.
func isAbsent(ctx context.Context, env *scenario.Env, object *unstructured.Unstructured) error {
	is := in(env, object)
	switch err := env.Client.Get(ctx, client.ObjectKeyFromObject(is), is); {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case is.GetDeletionTimestamp() != nil:
		return fmt.Errorf("%s %s is still there: it waits for %v", is.GetKind(), is.GetName(), is.GetFinalizers())
	default:
		return fmt.Errorf("%s %s is still there", is.GetKind(), is.GetName())
	}
}
