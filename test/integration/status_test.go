package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Any client that may write a status can store false values. A status change does not increment the generation, so an
// operator that only watches for new generations does not notice it.
var _ = Describe("A status that another client has written", func() {
	for _, c := range contracts {
		DescribeTable("of "+c.Kind+" is corrected although nothing else happens",
			func(ctx SpecContext, lie string) {
				resource := serving(ctx, c.valid(newNamespace(ctx), "edited", 2), 2)
				was := *resource.CommonStatus().DeepCopy()

				Expect(plane.Client.Status().Patch(ctx, resource, client.RawPatch(types.MergePatchType, []byte(lie)))).To(Succeed())
				Expect(*resource.CommonStatus()).NotTo(Equal(was))
				waitFor(ctx, current(resource), And(beReady(2), HaveField("CommonStatus().Nodes", was.Nodes), HaveField("CommonStatus().Selector", was.Selector)))
			},
			Entry("of its Pods", `{"status":{"replicas":99,"readyReplicas":99,"nodes":["nobody"],"selector":"app=other"}}`),
			Entry("of its conditions", `{"status":{"conditions":null}}`),
		)
	}
})
