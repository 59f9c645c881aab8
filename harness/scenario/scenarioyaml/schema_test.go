package scenarioyaml_test

import (
	"encoding/json"
	"maps"
	"os"
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
	expectEqual(t, "actions", fieldsOf(t, "a step", step), scenarioyaml.Actions())
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

// validateFile validates the text of a file against the schema. Like an editor, it ignores text that is not valid YAML.
func validateFile(schema *spec.Schema, text string) error {
	document, err := scenarioyaml.ToJSON([]byte(text))
	if err != nil {
		return nil
	}
	var value any
	if err := json.Unmarshal(document, &value); err != nil {
		return err
	}
	return validate.AgainstSchema(schema, value, strfmt.Default)
}
