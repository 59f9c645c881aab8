package specgen

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Schema describes the spec of a custom resource. It is safe for concurrent use.
type Schema struct {
	rules  schemaValidator
	fields []*field // parents before their children, siblings by name; the first is the spec itself
}

// specField is the name of the spec in a resource.
const specField = "spec"

// FromFile reads a YAML or JSON file with one CustomResourceDefinition of apiextensions.k8s.io/v1, and returns the
// schema of the named version. Documents of other kinds are skipped.
func FromFile(path, version string, options ...Option) (*Schema, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	crd, err := parse(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return New(crd, version, options...)
}

// New returns the schema of the named version. It returns an error if there is no such version, if its schema has no
// spec, or if no valid value of a field is found.
func New(crd *apiextensionsv1.CustomResourceDefinition, version string, options ...Option) (*Schema, error) {
	spec, err := specOf(crd, version)
	if err != nil {
		return nil, fmt.Errorf("CustomResourceDefinition %s: %w", crd.Name, err)
	}
	known := hints{examples: map[string][]any{}, maximums: map[string]int64{}}
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

// WithMaximum gives a number a maximum, where the schema allows more than a test can bear.
func WithMaximum(field string, maximum int64) Option {
	return func(k *hints) { k.maximums[field] = maximum }
}

// SkipUnknown leaves those fields alone of which no valid value is found, where New would return an error.
func SkipUnknown() Option {
	return func(k *hints) { k.skipUnknown = true }
}

// hints are the options' values, by field.
type hints struct {
	skipUnknown bool
	examples    map[string][]any
	maximums    map[string]int64
}

func parse(content []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	var found []*apiextensionsv1.CustomResourceDefinition
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for {
		var document runtime.RawExtension
		if err := documents.Decode(&document); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		var is metav1.TypeMeta
		if err := yaml.Unmarshal(document.Raw, &is); err != nil {
			return nil, err
		}
		if is.Kind != "CustomResourceDefinition" {
			continue
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(document.Raw, crd); err != nil {
			return nil, err
		}
		found = append(found, crd)
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("it holds %d CustomResourceDefinitions, not one: give each a file, or call specs.New", len(found))
	}
	return found[0], nil
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
