package invent

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/project"
)

func TestSamplesAreOrdered(t *testing.T) {
	object := func(properties ...any) apiextensionsv1.JSONSchemaProps {
		schema := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
		for i := 0; i < len(properties); i += 2 {
			schema.Properties[properties[i].(string)] = properties[i+1].(apiextensionsv1.JSONSchemaProps)
		}
		return schema
	}
	text := apiextensionsv1.JSONSchemaProps{Type: "string"}
	cluster := object("head", text, "workers", text)
	specs := map[string]apiextensionsv1.JSONSchemaProps{
		"Cluster": cluster,
		"Job":     object("entrypoint", text, "clusterSpec", cluster),
		"Service": object("jobTemplate", object("spec", object("entrypoint", text, "clusterSpec", cluster)), "port", text),
		"User":    object("name", text, "role", text),
	}
	// Each sample consists of a file path, a kind and a name.
	for name, test := range map[string]struct{ samples, want []string }{
		"every kind before a second sample": {
			[]string{"a/user1.yaml User one", "a/user2.yaml User two", "b/cluster.yaml Cluster main", "b/cluster-large.yaml Cluster large"},
			[]string{"a/user1.yaml User one", "b/cluster.yaml Cluster main", "a/user2.yaml User two", "b/cluster-large.yaml Cluster large"},
		},
		"owners first": {
			[]string{"cluster.yaml Cluster main", "job.yaml Job main", "service.yaml Service main"},
			[]string{"service.yaml Service main", "job.yaml Job main", "cluster.yaml Cluster main"},
		},
		"named after the kind first": {
			[]string{"autoscaler.yaml Cluster scaled", "large.yaml Cluster my-cluster", "ray-cluster.sample.yaml Cluster main"},
			[]string{"ray-cluster.sample.yaml Cluster main", "large.yaml Cluster my-cluster", "autoscaler.yaml Cluster scaled"},
		},
		"file names of kubebuilder": {
			[]string{"cache_v1_large.yaml Cluster large", "cache_v1_cluster.yaml Cluster cluster-sample"},
			[]string{"cache_v1_cluster.yaml Cluster cluster-sample", "cache_v1_large.yaml Cluster large"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var samples []project.Sample
			for _, line := range test.samples {
				words := strings.Fields(line)
				resource := &unstructured.Unstructured{}
				resource.SetKind(words[1])
				resource.SetName(words[2])
				crd := &apiextensionsv1.CustomResourceDefinition{}
				crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: new(object("spec", specs[words[1]]))}}}
				samples = append(samples, project.Sample{File: words[0], Resource: resource, CRD: crd})
			}
			var got []string
			for _, sample := range inOrder(samples) {
				got = append(got, sample.File+" "+sample.Resource.GetKind()+" "+sample.Resource.GetName())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
