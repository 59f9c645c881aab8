package invent

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/project"
)

// inOrder returns the samples in the order in which they should be explored:
//   - One sample of every kind comes before the second sample of any kind.
//   - A kind comes before the kinds that it creates.
//   - Within a kind, samples that are named after the kind come first.
func inOrder(samples []project.Sample) []project.Sample {
	byKind := map[schema.GroupKind][]project.Sample{}
	var kinds []schema.GroupKind
	crds := map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{}
	for _, sample := range samples {
		kind := sample.Resource.GroupVersionKind().GroupKind()
		if crds[kind] == nil {
			kinds, crds[kind] = append(kinds, kind), sample.CRD
		}
		byKind[kind] = append(byKind[kind], sample)
	}
	for _, ofKind := range byKind {
		slices.SortStableFunc(ofKind, func(a, b project.Sample) int { return cmp.Compare(nameRank(a), nameRank(b)) })
	}
	kinds = ownersFirst(kinds, crds)
	var ordered []project.Sample
	for round := 0; len(ordered) < len(samples); round++ {
		for _, kind := range kinds {
			if round < len(byKind[kind]) {
				ordered = append(ordered, byKind[kind][round])
			}
		}
	}
	return ordered
}

// nameRank returns 0 if the sample's file is named after its kind, such as cache_v1_memcached.yaml or
// ray-cluster.sample.yaml, 1 if only the resource is named after its kind, and 2 otherwise.
func nameRank(sample project.Sample) int {
	file := filepath.Base(sample.File)
	isNamed := func(name string) bool {
		words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' })
		words = slices.DeleteFunc(words, func(word string) bool { return slices.Contains(plainWords, word) })
		return strings.HasSuffix(strings.Join(words, ""), strings.ToLower(sample.Resource.GetKind()))
	}
	switch {
	case isNamed(strings.TrimSuffix(file, filepath.Ext(file))):
		return 0
	case isNamed(sample.Resource.GetName()):
		return 1
	}
	return 2
}

// plainWords are words in a sample's name that carry no information.
var plainWords = []string{"basic", "cr", "demo", "example", "minimal", "my", "sample", "simple", "test"}

// ownersFirst sorts the kinds so that each one comes before the kinds that it creates. A kind is assumed to create
// another kind if its spec embeds the spec of that kind. The order is otherwise unchanged.
func ownersFirst(kinds []schema.GroupKind, crds map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition) []schema.GroupKind {
	var ordered []schema.GroupKind
	var add func(kind schema.GroupKind, pending []schema.GroupKind)
	add = func(kind schema.GroupKind, pending []schema.GroupKind) {
		if slices.Contains(ordered, kind) || slices.Contains(pending, kind) {
			return
		}
		for _, owner := range kinds {
			if owner != kind && embeds(specOf(crds[owner]), specOf(crds[kind])) {
				add(owner, append(pending, kind))
			}
		}
		ordered = append(ordered, kind)
	}
	for _, kind := range kinds {
		add(kind, nil)
	}
	return ordered
}

// specOf returns the spec's schema in the last version that the CRD lists.
func specOf(crd *apiextensionsv1.CustomResourceDefinition) (spec apiextensionsv1.JSONSchemaProps) {
	if crd != nil {
		for _, version := range crd.Spec.Versions {
			if version.Schema != nil && version.Schema.OpenAPIV3Schema != nil {
				spec = version.Schema.OpenAPIV3Schema.Properties["spec"]
			}
		}
	}
	return spec
}

// embeds reports whether the owner's schema contains a nested object that has all fields of the given schema.
func embeds(owner, of apiextensionsv1.JSONSchemaProps) bool {
	if len(of.Properties) < 2 { // too few to recognize the schema
		return false
	}
	nested := slices.Collect(maps.Values(owner.Properties))
	if owner.Items != nil && owner.Items.Schema != nil {
		nested = append(nested, *owner.Items.Schema)
	}
	if owner.AdditionalProperties != nil && owner.AdditionalProperties.Schema != nil {
		nested = append(nested, *owner.AdditionalProperties.Schema)
	}
	return slices.ContainsFunc(nested, func(inner apiextensionsv1.JSONSchemaProps) bool {
		hasAll := len(inner.Properties) >= len(of.Properties) && sets.KeySet(inner.Properties).IsSuperset(sets.KeySet(of.Properties))
		return hasAll || embeds(inner, of)
	})
}
