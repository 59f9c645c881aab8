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

func TestSchemaHasTheFieldsThatAreRead(t *testing.T) {
	schema := readSchema(t)
	expectEqual(t, "fields of a file", fieldsOf(t, "a file", *schema), jsonNames(reflect.TypeFor[scenarioyaml.FileFields]()))
	beside := *schema.Properties["beside"].Items.Schema
	expectEqual(t, "fields of what runs beside", fieldsOf(t, "what runs beside", beside), jsonNames(reflect.TypeFor[scenarioyaml.Beside]()))
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
		t.Errorf("%s may have unknown fields", what)
	}
	for name, property := range schema.Properties {
		if property.Description == "" {
			t.Errorf("%s of %s has no description, which editors show", name, what)
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
		"the example":         {greeter, true},
		"the naive operator":  {string(naive), true},
		"merge keys":          {"scenarios: [{name: a/b, steps: [{apply: &a {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}, {apply: {<<: *a, data: {b: c}}}]}]", true},
		"settings":            {"{main: ./cmd, install: config, manager: m, samples: [a], arguments: [-v], env: {A: b}, operator: c, crds: [crds], role: [role.yaml]}", true},
		"beside":              {"beside: [{deployment: a, main: ./cmd/a, arguments: [-v], env: {A: b}}, {deployment: b, operator: bin/b}]", true},
		"nothing beside":      {"beside: [{main: ./cmd/a}]", false},
		"no program beside":   {"beside: [{deployment: a}]", false},
		"two programs beside": {"beside: [{deployment: a, main: ./cmd/a, operator: bin/a}]", false},
		"a field too many":    {"beside: [{deployment: a, main: ./cmd/a, replicas: 2}]", false},
		"all actions":         {step("{patch: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}, {assert: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}, {delete: {apiVersion: v1, kind: ConfigMap, name: a-*}}, {error: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {b: c}}}, {script: {content: ls, timeout: 1m, env: [{name: A, value: b}], skipLogOutput: true}}, {converged: {}}"), true},
		"an unknown field":    {"scenario: []", false},
		"a list as text":      {"samples: a", false},
		"a number for text":   {"env: {A: 1}", false},
		"no steps":            {"scenarios: [{name: a/b, steps: []}]", false},
		"no name":             {"scenarios: [{steps: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}]}]", false},
		"a name of two words": {"scenarios: [{name: a b, steps: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}]}]", false},
		"an unknown action":   {step("{sleep: {}}"), false},
		"no action":           {step("{}"), false},
		"two actions":         {step("{converged: {}, error: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}"), false},
		"no content":          {step("{script: {timeout: 1m}}"), false},
		"no variable's name":  {step("{script: {content: ls, env: [{value: a}]}}"), false},
		"a timeout's unit":    {step("{script: {content: ls, timeout: \"5\"}}"), false},
		"a check":             {step("{script: {content: ls, check: {}}}"), false},
		"converged to what":   {step("{converged: {a: b}}"), false},
		"no kind":             {step("{assert: {apiVersion: v1, metadata: {name: a}}}"), false},
		"no object's name":    {step("{patch: {apiVersion: v1, kind: ConfigMap, metadata: {labels: {a: b}}}}"), false},
		"metadata to delete":  {step("{delete: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}"), false},
		"a namespace":         {step("{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}}"), false},
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
				t.Errorf("the schema finds: %v", result.Errors)
			}
			if _, err := scenarioyaml.Load(write(t, test.text)); name != "the naive operator" && (err == nil) != test.valid {
				t.Errorf("Load finds: %v", err)
			}
		})
	}
}
