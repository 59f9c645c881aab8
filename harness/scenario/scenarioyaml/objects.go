package scenarioyaml

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/diff"
	"github.com/operator-assay/assay/harness/scenario"
)

func applyObject(ctx context.Context, env *scenario.Env, object *unstructured.Unstructured) error {
	return env.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(inRunNamespace(env, object)), client.FieldOwner(scenario.User), client.ForceOwnership)
}

func patchObject(ctx context.Context, env *scenario.Env, object *unstructured.Unstructured) error {
	return env.Client.Patch(ctx, inRunNamespace(env, object), client.Merge)
}

// deleteObject deletes an object. If the name contains a *, deleteObject deletes the oldest object whose name matches.
func deleteObject(ctx context.Context, env *scenario.Env, object *unstructured.Unstructured) error {
	prefix, suffix, isPattern := strings.Cut(object.GetName(), "*")
	if !isPattern {
		return env.Client.Delete(ctx, inRunNamespace(env, object))
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(object.GroupVersionKind())
	if err := env.Client.List(ctx, list, client.InNamespace(env.Namespace)); err != nil {
		return err
	}
	matching := slices.DeleteFunc(list.Items, func(item unstructured.Unstructured) bool {
		return !strings.HasPrefix(item.GetName(), prefix) || !strings.HasSuffix(item.GetName(), suffix)
	})
	if len(matching) == 0 {
		return fmt.Errorf("%s %s not found", object.GetKind(), object.GetName())
	}
	oldest := slices.MinFunc(matching, func(a, b unstructured.Unstructured) int {
		return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time), strings.Compare(a.GetName(), b.GetName()))
	})
	return env.Client.Delete(ctx, &oldest)
}

// inRunNamespace returns a copy of the object. If the object is namespaced, the copy is in the run's namespace.
func inRunNamespace(env *scenario.Env, object *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	if namespaced, err := env.Client.IsObjectNamespaced(object); namespaced || err != nil { // the following request fails if the kind is unknown
		object.SetNamespace(env.Namespace)
	}
	return object
}

func until(check objectFunc) objectFunc {
	return func(ctx context.Context, env *scenario.Env, object *unstructured.Unstructured) error {
		return env.WaitFor(ctx, func(ctx context.Context) error { return check(ctx, env, object) })
	}
}

func hasFields(ctx context.Context, env *scenario.Env, asserted *unstructured.Unstructured) error {
	_, differences, err := compare(ctx, env, asserted)
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%s %s does not exist", asserted.GetKind(), asserted.GetName())
	case err != nil || len(differences) == 0:
		return err
	}
	var texts []string
	for _, field := range differences {
		texts = append(texts, fmt.Sprintf("%s: want %s, got %s", field.Path, format(field.From), format(field.To)))
	}
	return fmt.Errorf("%s %s: %s", asserted.GetKind(), asserted.GetName(), strings.Join(texts, "; "))
}

// isGone returns an error if the object exists and has all given fields.
func isGone(ctx context.Context, env *scenario.Env, given *unstructured.Unstructured) error {
	object, differences, err := compare(ctx, env, given)
	if err != nil || len(differences) > 0 {
		return client.IgnoreNotFound(err)
	}
	complaint := fmt.Sprintf("%s %s still exists", object.GetKind(), object.GetName())
	if object.GetDeletionTimestamp() != nil {
		complaint += fmt.Sprintf(": it is being deleted and has finalizers %v", object.GetFinalizers())
	}
	return errors.New(complaint)
}

// compare returns the stored object and the given fields whose values differ.
func compare(ctx context.Context, env *scenario.Env, given *unstructured.Unstructured) (*unstructured.Unstructured, []diff.Field, error) {
	object := inRunNamespace(env, given)
	if err := env.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return nil, nil, err
	}
	equal := func(want, got any) bool {
		switch want {
		case present:
			return got != nil && got != diff.Absent
		case current:
			return got == object.GetGeneration()
		}
		return reflect.DeepEqual(want, got)
	}
	differences := diff.Comparison{Subset: true, Equal: equal}.Fields("", given.Object, object.Object)
	for i := range differences {
		if differences[i].From == current {
			differences[i].From = fmt.Sprintf("%s (%d)", current, object.GetGeneration())
		}
	}
	return object, differences, nil
}

// Special values in an assert.
const (
	present = "<present>" // any value
	current = "<current>" // the object's metadata.generation
)

func format(value any) string {
	if value == nil || value == diff.Absent {
		return "nothing"
	}
	if text, ok := value.(string); ok {
		return text
	}
	text, _ := json.Marshal(value) // cannot fail, because the value was decoded from JSON
	return string(text)
}
