package specgen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// Schema describes the spec of a custom resource. It is safe for concurrent use.
type Schema struct {
	rules  schemaValidator
	fields []*field // parents before children, siblings by name; the first one is the spec
}

const specField = "spec"

// New returns the Schema for one version of a CustomResourceDefinition. It takes about a second for the largest public
// schemas, which have about 7,000 fields.
func New(crd *apiextensionsv1.CustomResourceDefinition, version string) (*Schema, error) {
	s := &Schema{}
	spec, err := specOf(crd, version)
	if err == nil {
		s.rules, err = newSchemaValidator(specField, spec)
	}
	if err == nil {
		_, err = s.add(nil, specField, spec)
	}
	if err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition %s: %w", crd.Name, err)
	}
	// Evaluate CEL rules only for complete specs, because compiling the rules of every field would be slow.
	s.rules.rules = cel.NewValidator(s.rules.structural, false, celconfig.PerCallLimit)
	return s, nil
}

func specOf(crd *apiextensionsv1.CustomResourceDefinition, version string) (*apiextensionsv1.JSONSchemaProps, error) {
	var names []string
	for _, v := range crd.Spec.Versions {
		names = append(names, v.Name)
		if v.Name != version {
			continue
		}
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			return nil, fmt.Errorf("version %s has no schema", version)
		}
		spec, described := v.Schema.OpenAPIV3Schema.Properties[specField]
		if !described {
			return nil, fmt.Errorf("the schema of version %s has no property %s", version, specField)
		}
		return &spec, nil
	}
	return nil, fmt.Errorf("no version %s, only %s", version, strings.Join(names, ", "))
}

func (s *Schema) add(parent *field, name string, schema *apiextensionsv1.JSONSchemaProps) (*field, error) {
	f := &field{parent: parent, name: name, schema: schema}
	s.fields = append(s.fields, f)
	children := map[string]apiextensionsv1.JSONSchemaProps{}
	maps.Copy(children, schema.Properties)
	if schema.Items != nil && schema.Items.Schema != nil {
		children[elements] = *schema.Items.Schema
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		children[elements] = *schema.AdditionalProperties.Schema
	}
	for _, name := range slices.Sorted(maps.Keys(children)) {
		child, err := s.add(f, name, new(children[name]))
		if err != nil {
			return nil, err
		}
		f.children = append(f.children, child)
	}
	rules, err := newSchemaValidator(f.path(), schema)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.path(), err)
	}
	isInvalid := func(value any) bool { return rules.check(value) != nil }
	f.values = slices.DeleteFunc(f.kubernetesValues(), isInvalid)
	f.isKnown = len(f.values) > 0
	if !f.isKnown {
		f.values = slices.DeleteFunc(f.candidates(), isInvalid)
	}
	return f, nil
}

func keyOf(value any) string {
	encoded, _ := json.Marshal(value) // cannot fail for a JSON value
	return string(encoded)
}
