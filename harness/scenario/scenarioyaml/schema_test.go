package scenarioyaml_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

const schemaFile = "assay.schema.json"

func readSchema(t *testing.T) *spec.Schema {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	schema := &spec.Schema{}
	if err := json.Unmarshal(text, schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestSchemaFieldsMatchTypes(t *testing.T) {
	schema := readSchema(t)
	expectEqual(t, "fields of a file", fieldsOf(t, "a file", *schema), jsonNames(reflect.TypeFor[scenarioyaml.FileFields]()))
	manager := *schema.Properties["companions"].Items.Schema
	expectEqual(t, "fields of an additional manager", fieldsOf(t, "an additional manager", manager), jsonNames(reflect.TypeFor[scenarioyaml.Companion]()))
	one := *schema.Properties["scenarios"].Items.Schema
	expectEqual(t, "fields of a scenario", fieldsOf(t, "a scenario", one), jsonNames(reflect.TypeFor[scenarioyaml.Document]()))
	step := *one.Properties["steps"].Items.Schema
	expectEqual(t, "actions", fieldsOf(t, "a step", step), slices.Sorted(slices.Values(scenarioyaml.Actions)))
	expectEqual(t, "fields of a script", fieldsOf(t, "a script", step.Properties["script"]), jsonNames(reflect.TypeFor[scenarioyaml.ScriptFields]()))
}

// fieldsOf returns the fields of a schema. It checks that no other fields are allowed and that all fields have a
// description.
func fieldsOf(t *testing.T, what string, schema spec.Schema) []string {
	t.Helper()
	if others := schema.AdditionalProperties; others == nil || others.Allows {
		t.Errorf("the schema allows unknown fields in %s", what)
	}
	for name, property := range schema.Properties {
		if property.Description == "" {
			t.Errorf("field %s of %s has no description for editors", name, what)
		}
	}
	return slices.Sorted(maps.Keys(schema.Properties))
}

func jsonNames(of reflect.Type) []string {
	var names []string
	for _, field := range reflect.VisibleFields(of) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestSchemaAgreesWithLoad(t *testing.T) {
	validator := validate.NewSchemaValidator(readSchema(t), nil, "", strfmt.Default)
	naive, err := os.ReadFile(filepath.Join("..", "..", "..", "test", "fixtures", "naive", "scenarios.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	step := func(step string) string {
		return "scenarios: [{name: a/b, steps: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}, " + step + "]}]"
	}
	for name, test := range map[string]struct {
		text  string
		valid bool
	}{
		"example":                    {greeter, true},
		"naive operator":             {string(naive), true},
		"merge keys":                 {"scenarios: [{name: a/b, steps: [{apply: &a {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}, {apply: {<<: *a, data: {b: c}}}]}]", true},
		"settings":                   {"{main: ./cmd, install: config, manager: m, samples: [a], arguments: [-v], env: {A: b}, operator: c, crds: [crds], role: [role.yaml]}", true},
		"managers":                   {"companions: [{deployment: a, main: ./cmd/a, arguments: [-v], env: {A: b}}, {deployment: b, operator: bin/b}]", true},
		"manager without Deployment": {"companions: [{main: ./cmd/a}]", false},
		"manager without program":    {"companions: [{deployment: a}]", false},
		"manager with two programs":  {"companions: [{deployment: a, main: ./cmd/a, operator: bin/a}]", false},
		"manager with unknown field": {"companions: [{deployment: a, main: ./cmd/a, replicas: 2}]", false},
		"all actions":                {step("{patch: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}, {assert: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}, {delete: {apiVersion: v1, kind: ConfigMap, name: a-*}}, {error: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {b: c}}}, {script: {content: ls, timeout: 1m, env: [{name: A, value: b}], skipLogOutput: true}}, {converged: {}}"), true},
		"unknown field":              {"scenario: []", false},
		"text instead of a list":     {"samples: a", false},
		"number instead of text":     {"env: {A: 1}", false},
		"no steps":                   {"scenarios: [{name: a/b, steps: []}]", false},
		"no name":                    {"scenarios: [{steps: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}]}]", false},
		"name with a space":          {"scenarios: [{name: a b, steps: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}]}]", false},
		"unknown action":             {step("{sleep: {}}"), false},
		"no action":                  {step("{}"), false},
		"two actions":                {step("{converged: {}, error: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}"), false},
		"no content":                 {step("{script: {timeout: 1m}}"), false},
		"variable without name":      {step("{script: {content: ls, env: [{value: a}]}}"), false},
		"timeout without unit":       {step("{script: {content: ls, timeout: \"5\"}}"), false},
		"script with unknown field":  {step("{script: {content: ls, check: {}}}"), false},
		"converged with fields":      {step("{converged: {a: b}}"), false},
		"no kind":                    {step("{assert: {apiVersion: v1, metadata: {name: a}}}"), false},
		"object without name":        {step("{patch: {apiVersion: v1, kind: ConfigMap, metadata: {labels: {a: b}}}}"), false},
		"delete with metadata":       {step("{delete: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}"), false},
		"object with namespace":      {step("{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}}"), false},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := scenarioyaml.ToJSON([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			var document any
			if err := json.Unmarshal(text, &document); err != nil {
				t.Fatal(err)
			}
			if result := validator.Validate(document); result.IsValid() != test.valid {
				t.Errorf("schema: got valid=%t, want %t; errors: %v", result.IsValid(), test.valid, result.Errors)
			}
			if _, err := scenarioyaml.Load(write(t, test.text)); name != "naive operator" && (err == nil) != test.valid {
				t.Errorf("Load: got error %v, want valid=%t", err, test.valid)
			}
		})
	}
}
