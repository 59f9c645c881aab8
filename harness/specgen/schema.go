package specgen

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Schema describes the spec of a custom resource. It is safe for concurrent use.
type Schema struct {
	rules  schemaValidator
	fields []*field // parents before their children, siblings by name; the first is the spec itself
}

// specField is the name of the spec in a resource.
const specField = "spec"

// New returns the schema of the named version. It returns an error if there is no such version, if its schema has no
// spec, or if no valid value of a field is found.
func New(crd *apiextensionsv1.CustomResourceDefinition, version string, options ...Option) (*Schema, error) {
	spec, err := specOf(crd, version)
	if err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition %s: %w", crd.Name, err)
	}
	known := hints{examples: map[string][]any{}}
	for _, option := range options {
		option(&known)
	}
	schema, err := build(spec, known)
	if err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition %s, version %s: %w", crd.Name, version, err)
	}
	return schema, nil
}

// Option gives information about a field that its schema lacks.
type Option func(*hints)

// WithExamples gives the values of a field, instead of generated ones; it may still be absent where that is allowed.
// Without values the field is left alone. A field is named as API servers do: spec.image; [] stands for the elements
// of a list and the values of a map: spec.ports[].name.
func WithExamples(field string, values ...any) Option {
	return func(k *hints) { k.examples[field] = values }
}

// SkipUnknown leaves those fields alone of which no valid value is found, where New would return an error.
func SkipUnknown() Option {
	return func(k *hints) { k.skipUnknown = true }
}

// hints are the options' values, by field.
type hints struct {
	skipUnknown bool
	examples    map[string][]any
}

// specOf returns the schema of a version's spec.
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
	return nil, fmt.Errorf("it has no version %s, only %s", version, strings.Join(names, ", "))
}
