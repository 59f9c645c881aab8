package specgen

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Schema describes the spec of a custom resource. It is safe for concurrent use.
type Schema struct {
	rules  schemaValidator
	fields []*field // parents before children, siblings by name; the first one is the spec
}

const specField = "spec"

// New returns the Schema of a version of a CustomResourceDefinition. It returns an error if it cannot generate a valid
// value of some field; see WithExamples and SkipUnknown.
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

// Option configures New.
type Option func(*hints)

// WithExamples replaces the generated values of a field. Without values, the field is skipped. The path of a field in a
// list or map contains [], for example spec.ports[].name.
func WithExamples(field string, values ...any) Option {
	return func(k *hints) { k.examples[field] = values }
}

// SkipUnknown skips the fields for which no valid value can be generated. By default, New returns an error for them.
func SkipUnknown() Option {
	return func(k *hints) { k.skipUnknown = true }
}

type hints struct {
	skipUnknown bool
	examples    map[string][]any // by path
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
