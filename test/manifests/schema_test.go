package manifests

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// kind validates objects against a CRD with the code of the API server.
type kind struct {
	crd        *apiextensionsv1.CustomResourceDefinition
	version    apiextensionsv1.CustomResourceDefinitionVersion
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

// served returns the kind with the given name from the installation.
func served(t *testing.T, name string) kind {
	t.Helper()
	for _, crd := range installed[apiextensionsv1.CustomResourceDefinition](t, "CustomResourceDefinition") {
		if crd.Spec.Names.Kind != name {
			continue
		}
		if len(crd.Spec.Versions) != 1 || crd.Spec.Versions[0].Schema == nil {
			t.Fatalf("%s has the versions %+v", name, crd.Spec.Versions)
		}
		k := kind{crd: crd, version: crd.Spec.Versions[0]}
		properties := &apiextensions.JSONSchemaProps{}
		err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(k.version.Schema.OpenAPIV3Schema, properties, nil)
		if err == nil {
			k.structural, err = schema.NewStructural(properties)
		}
		if err == nil {
			k.validator, _, err = validation.NewSchemaValidator(properties)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		k.rules = cel.NewValidator(k.structural, true, celconfig.PerCallLimit)
		return k
	}
	t.Fatalf("there is no %s", name)
	return kind{}
}

// judge validates the creation of an object, or the update of an old object, and sets the defaults. It uses strict
// field validation.
func (k kind) judge(object, old map[string]any) error {
	var errs field.ErrorList
	unknown := pruning.PruneWithOptions(object, k.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	_, _, more, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return err
	}
	for _, path := range append(unknown, more...) {
		errs = append(errs, field.Forbidden(nil, fmt.Sprintf("unknown field %q", path)))
	}
	defaulting.Default(object, k.structural)
	errs = append(errs, validation.ValidateCustomResource(nil, object, k.validator)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.structural, object)...)
	if !blocking(errs) {
		broken, _ := k.rules.Validate(context.Background(), nil, k.structural, object, anyOf(old), celconfig.RuntimeCELCostBudget)
		errs = append(errs, broken...)
	}
	return errs.ToAggregate()
}

// anyOf returns a nil interface for a nil map.
func anyOf(object map[string]any) any {
	if object == nil {
		return nil
	}
	return object
}

// blocking reports whether the errors prevent the evaluation of the validation rules.
func blocking(errs field.ErrorList) bool {
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}

// edited returns a copy of an object with a JSON merge patch applied.
func edited(t *testing.T, object map[string]any, edit string) map[string]any {
	t.Helper()
	text, err := json.Marshal(object)
	if err == nil {
		text, err = jsonpatch.MergePatch(text, []byte(edit))
	}
	if err != nil {
		t.Fatalf("%s: %v", edit, err)
	}
	return parsed(t, string(text))
}

// parsed returns an object with integers decoded as the API server decodes them.
func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	object := map[string]any{}
	if err := utiljson.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return object
}

// refused verifies that the error contains the given words and tells the user what to do.
func refused(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Error("it is taken")
		return
	}
	for _, words := range says {
		if !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(words)) {
			t.Errorf("without %q: %v", words, err)
		}
	}
}
