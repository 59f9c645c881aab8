package specgen

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	fieldpath "k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// schemaValidator validates the value of a field with the API server's own code.
type schemaValidator struct {
	name       string
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator // nil if CEL rules are not evaluated
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
	return schemaValidator{name: name, structural: structural, validator: validator}, err
}

func (r schemaValidator) check(value any) error {
	object := r.defaulted(value)
	property := r.structural.Properties[r.name]
	errs := validation.ValidateCustomResource(nil, object, r.validator)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, r.structural, object)...)
	errs = append(errs, objectmeta.Validate(context.Background(), fieldpath.NewPath(r.name), object[r.name], &property, false)...)
	if len(errs) == 0 {
		errs, _ = r.rules.Validate(context.Background(), nil, r.structural, object, nil, celconfig.RuntimeCELCostBudget)
	}
	return errs.ToAggregate()
}

func (r schemaValidator) defaulted(value any) map[string]any {
	object := map[string]any{}
	if value != absent {
		object[r.name] = runtime.DeepCopyJSONValue(value)
	}
	defaulting.Default(object, r.structural)
	return object
}
