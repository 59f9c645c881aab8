package integration

import (
	"strings"

	"github.com/distribution/reference"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/test/edits"
)

var _ = Describe("The rule for images", func() {
	for _, c := range contracts {
		// The kubelet validates with this library, and reports InvalidImageName for a Pod.
		It("of "+c.Kind+" is that of the library that container runtimes use", func(ctx SpecContext) {
			namespace := newNamespace(ctx)
			judge := func(image string, good bool) {
				_, library := reference.ParseNormalizedNamed(image)
				candidate := c.edited(namespace, `{}`)
				Expect(unstructured.SetNestedField(candidate.Object, image, "spec", "image")).To(Succeed())
				ours := plane.Client.Create(ctx, candidate, client.DryRunAll)
				Expect(library == nil).To(Equal(good), "the library of %q: %v", image, library)
				Expect(ours == nil).To(Equal(good), "the schema of %q: %v", image, ours)
				if !good {
					expectRefusal(ours, []string{"spec.image"})
				}
			}
			for _, image := range edits.References.Good {
				judge(image, true)
			}
			for _, image := range edits.References.Bad {
				judge(image, false)
			}
		})
	}

	// A pattern cannot count these, and no registry takes them; 512 characters bound the cost of the rule.
	DescribeTable("differs from the library on purpose about",
		func(ctx SpecContext, image string, ours bool) {
			_, library := reference.ParseNormalizedNamed(image)
			Expect(library == nil).NotTo(Equal(ours))
			candidate := newWebServer(newNamespace(ctx), "web", 1)
			candidate.Spec.Image = workload.Image(image)
			Expect(plane.Client.Create(ctx, candidate, client.DryRunAll) == nil).To(Equal(ours))
		},
		Entry("a repository's path of more than 255 characters, which we take", strings.Repeat("a", 256), true),
		Entry("a reference of more than 512 characters, which we refuse", "registry."+strings.Repeat("example.", 55)+"com/nginx@"+edits.SHA256, false),
	)
})
