package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("An update", func() {
	for _, c := range contracts {
		It("of a "+c.Kind+" cannot change its status", func(ctx SpecContext) {
			namespace := newNamespace(ctx)
			lie := `{"status":{"readyReplicas":99,"selector":"app=other"}}`
			born := c.edited(namespace, lie)
			Expect(plane.Client.Create(ctx, born)).To(Succeed())
			Expect(born.Object).NotTo(HaveKey("status"))

			resource := c.valid(namespace, "edited", 2)
			waitFor(ctx, current(resource), beReady(2))
			version := resource.GetResourceVersion()
			Expect(plane.Client.Patch(ctx, resource, client.RawPatch(types.MergePatchType, []byte(lie)))).To(Succeed())
			Expect(resource.GetResourceVersion()).To(Equal(version))
		})

		It("of the status of a "+c.Kind+" cannot change its spec", func(ctx SpecContext) {
			resource := serving(ctx, c.valid(newNamespace(ctx), "reported", 2), 2)
			version := resource.GetResourceVersion()
			edit := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"`+c.Replicas+`":5},"metadata":{"labels":{"a":"b"}}}`))
			Expect(plane.Client.Status().Patch(ctx, resource, edit)).To(Succeed())
			Expect(resource.GetResourceVersion()).To(Equal(version))
		})
	}
})
