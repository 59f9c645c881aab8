package invent

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/project"
)

func TestScenarioPrefixesAreUnique(t *testing.T) {
	g := NewWithT(t)
	sample := func(kind, name string) project.Sample {
		resource := &unstructured.Unstructured{}
		resource.SetKind(kind)
		resource.SetName(name)
		return project.Sample{Resource: resource}
	}
	samples := []project.Sample{sample("Web", "a"), sample("Cache", "a"), sample("Web", "a"), sample("Web", "b"), sample("Web", "a"), sample("Web", "a-2")}
	g.Expect(prefixes(samples)).To(Equal([]string{"web-a", "cache", "web-a-2", "web-b", "web-a-3", "web-a-2-2"}))
}
