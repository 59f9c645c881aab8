package invent

import (
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"

	"github.com/operator-assay/assay/harness/project"
)

// prune removes fields from a sample that its CRD does not define, and returns their paths. The API server prunes
// unknown fields in the same way if a client does not request field validation. It would reject them in a server-side
// apply, which the scenarios use.
func prune(sample project.Sample) ([]string, error) {
	version := sample.Resource.GroupVersionKind().Version
	at := slices.IndexFunc(sample.CRD.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version })
	if at < 0 || sample.CRD.Spec.PreserveUnknownFields || sample.CRD.Spec.Versions[at].Schema == nil {
		return nil, nil
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(sample.CRD.Spec.Versions[at].Schema.OpenAPIV3Schema, internal, nil); err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(internal)
	if err != nil {
		return nil, err
	}
	return pruning.PruneWithOptions(sample.Resource.Object, structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}), nil
}
