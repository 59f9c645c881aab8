package scenarioyaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/operator-assay/assay/harness/process"
)

// Step actions. They must match the schema.
const (
	apply     = "apply"
	patch     = "patch"
	assert    = "assert"
	unwanted  = "error"
	remove    = "delete"
	script    = "script"
	converged = "converged"
)

var (
	actions = []string{apply, patch, assert, unwanted, remove, script, converged}
	choice  = "use one of " + strings.Join(actions, ", ")
)

type parsedStep struct {
	action string
	object *unstructured.Unstructured // depending on the action: a whole object, an identity or nil
	script process.Script
}

// parseStep parses a step. If it is a script, it will run in folder.
func parseStep(folder string, raw json.RawMessage) (step parsedStep, err error) {
	var given map[string]map[string]any
	if err := decode(raw, &given); err != nil {
		return step, err
	}
	named := slices.Sorted(maps.Keys(given))
	switch len(named) {
	case 0:
		return step, errors.New("no action: " + choice)
	case 1:
		step.action = named[0]
	default:
		return step, fmt.Errorf("%d actions (%s): write one step for each", len(named), strings.Join(named, ", "))
	}
	fields := given[step.action]
	if err := utiljson.ConvertMapNumbers(fields, 0); err != nil {
		return step, err
	}
	nameField := "metadata.name"
	switch step.action {
	case converged:
		if len(fields) > 0 {
			return step, errors.New("converged takes no fields: write {}")
		}
		return step, nil
	case script:
		step.script, err = parseScript(folder, fields)
		return step, err
	case apply, patch, assert, unwanted:
	case remove:
		nameField = "name"
		if fields, err = identity(step.action, fields); err != nil {
			return step, err
		}
	default:
		return step, fmt.Errorf("unknown action %s: %s", step.action, choice)
	}
	step.object = &unstructured.Unstructured{Object: fields}
	return step, check(step.action, step.object, nameField)
}

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
		return fmt.Errorf("%s requires %s as non-empty strings", action, strings.Join(missing, ", "))
	}
	if object.GetNamespace() != "" {
		return fmt.Errorf("%s sets a namespace: remove it, because each run uses its own namespace", action)
	}
	_, err := schema.ParseGroupVersion(object.GetAPIVersion())
	return err
}
