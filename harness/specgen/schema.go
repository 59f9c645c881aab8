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

// New returns the Schema for one version of a CustomResourceDefinition. The examples override the generated values.
// Their keys are field paths, with [] for list and map elements, for example spec.ports[].name. Fields without an
// example are skipped if no valid value can be generated.
func New(crd *apiextensionsv1.CustomResourceDefinition, version string, examples map[string][]any) (*Schema, error) {
	spec, err := specOf(crd, version)
	if err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition %s: %w", crd.Name, err)
	}
	schema, err := build(spec, examples)
	if err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition %s, version %s: %w", crd.Name, version, err)
	}
	return schema, nil
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
