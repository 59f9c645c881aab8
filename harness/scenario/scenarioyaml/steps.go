package scenarioyaml

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/scenario"
)

type parsedStep struct {
	scenario.Step
	action string
	kind   schema.GroupVersionKind // of the object, if there is one
}

type action struct {
	name     string
	isAction bool // as in scenario.Step
	// parse returns a step named after its object or script, such as "Deployment web". parseStep adds the action.
	parse func(folder string, fields map[string]any) (parsedStep, error)
}

var actions = []action{
	{"apply", true, onObject(parseObject, applyObject)},
	{"patch", true, onObject(parseObject, patchObject)},
	{"assert", false, onObject(parseObject, until(hasFields))},
	{"error", false, onObject(parseObject, until(isGone))},
	{"delete", true, onObject(parseIdentity, deleteObject)},
	{"script", true, parseScript},
	{"converged", false, parseConverged},
}

func parseStep(folder string, given map[string]map[string]any) (step parsedStep, err error) {
	name := strings.Join(slices.Sorted(maps.Keys(given)), ", ")
	if len(given) > 1 {
		return step, fmt.Errorf("%d actions (%s): write one step for each", len(given), name)
	}
	var names []string
	for _, action := range actions {
		if names = append(names, action.name); action.name != name {
			continue
		}
		if step, err = action.parse(folder, given[name]); err != nil {
			return step, fmt.Errorf("%s: %w", name, err)
		}
		about := ""
		if step.Name != "" {
			about = "(" + step.Name + ")"
		}
		step.action, step.IsAction, step.Name = name, action.isAction, strings.ToUpper(name[:1])+name[1:]+about
		return step, nil
	}
	if name == "" {
		return step, fmt.Errorf("no action: use one of %s", strings.Join(names, ", "))
	}
	return step, fmt.Errorf("unknown action %q: use one of %s", name, strings.Join(names, ", "))
}

type objectFunc func(context.Context, *scenario.Env, *unstructured.Unstructured) error

func onObject(parse func(map[string]any) (*unstructured.Unstructured, error), run objectFunc) func(string, map[string]any) (parsedStep, error) {
	return func(_ string, fields map[string]any) (step parsedStep, err error) {
		object, err := parse(fields)
		if err != nil {
			return step, err
		}
		step.Name, step.kind = object.GetKind()+" "+object.GetName(), object.GroupVersionKind()
		step.Run = func(ctx context.Context, env *scenario.Env) error { return run(ctx, env, object) }
		return step, nil
	}
}

func parseObject(fields map[string]any) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{Object: fields}
	if object.GetNamespace() != "" {
		return nil, errors.New("the object has a namespace: remove it, because each run uses its own namespace")
	}
	return object, checkIdentity(object, "metadata.name")
}

func parseIdentity(fields map[string]any) (*unstructured.Unstructured, error) {
	var given struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Name       string `json:"name"`
	}
	if err := convert(fields, &given); err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(given.APIVersion)
	object.SetKind(given.Kind)
	object.SetName(given.Name)
	return object, checkIdentity(object, "name")
}

func checkIdentity(object *unstructured.Unstructured, nameField string) error {
	if object.GetAPIVersion() == "" || object.GetKind() == "" || object.GetName() == "" {
		return fmt.Errorf("apiVersion, kind and %s must be non-empty strings", nameField)
	}
	_, err := schema.ParseGroupVersion(object.GetAPIVersion())
	return err
}

func parseConverged(_ string, fields map[string]any) (step parsedStep, err error) {
	if len(fields) > 0 {
		return step, errors.New("the step has no fields: write `converged: {}`")
	}
	step.Run = func(ctx context.Context, env *scenario.Env) error {
		if env.Converge == nil {
			return errors.New("converged is only supported by the explorer: use assert instead")
		}
		return env.Converge(ctx)
	}
	return step, nil
}
