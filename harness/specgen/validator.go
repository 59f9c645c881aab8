package specgen

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	fieldpath "k8s.io/apimachinery/pkg/util/validation/field"
)

// schemaValidator validates the value of a field with the API server's own code, except for CEL rules.
type schemaValidator struct {
	name       string
	structural *schema.Structural
	validator  validation.SchemaValidator
}

func newSchemaValidator(name string, value *apiextensionsv1.JSONSchemaProps) (schemaValidator, error) {
	object := &apiextensionsv1.JSONSchemaProps{
		Type:       "object",
		Properties: map[string]apiextensionsv1.JSONSchemaProps{name: *value},
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(object, internal, nil); err != nil {
		return schemaValidator{}, err
	}
	structural, err := schema.NewStructural(internal)
	if err != nil {
		return schemaValidator{}, err
	}
	validator, _, err := validation.NewSchemaValidator(internal)
	return schemaValidator{name, structural, validator}, err
}

func (r schemaValidator) check(value any) error {
	object := map[string]any{}
	if value != absent {
		object[r.name] = runtime.DeepCopyJSONValue(value)
	}
	defaulting.Default(object, r.structural)
	property := r.structural.Properties[r.name]
	errs := validation.ValidateCustomResource(nil, object, r.validator)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, r.structural, object)...)
	errs = append(errs, objectmeta.Validate(context.Background(), fieldpath.NewPath(r.name), object[r.name], &property, false)...)
	return errs.ToAggregate()
}
