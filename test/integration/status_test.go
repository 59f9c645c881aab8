package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
)

// Any client with write access to the status can store wrong values. A status change does not increment the generation,
// so an operator that only watches for new generations would not notice it.
var _ = Describe("A status that another client has written", func() {
	DescribeTable("is corrected without any other event if it is wrong",
		func(ctx SpecContext, lie string) {
			cache := serving(ctx, newMemcached(newNamespace(ctx), "cache", 2), 2)
			was := *cache.CommonStatus().DeepCopy()

			Expect(plane.Client.Status().Patch(ctx, cache, client.RawPatch(types.MergePatchType, []byte(lie)))).To(Succeed())
			Expect(*cache.CommonStatus()).NotTo(Equal(was))
			waitFor(ctx, current(cache), And(beReady(2), HaveField("CommonStatus().Nodes", was.Nodes), HaveField("CommonStatus().Selector", was.Selector)))
		},
		Entry("in its Pods", `{"status":{"replicas":99,"readyReplicas":99,"nodes":["nobody"],"selector":"app=other"}}`),
		Entry("in its conditions", `{"status":{"conditions":null}}`),
	)

	It("keeps the conditions of other clients and the transition times when the operator updates it", func(ctx SpecContext) {
		cache := serving(ctx, newMemcached(newNamespace(ctx), "cache", 1), 1)
		hourAgo := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
		before := cache.DeepCopy()
		available := meta.FindStatusCondition(cache.Status.Conditions, workload.Available)
		available.LastTransitionTime = hourAgo
		meta.SetStatusCondition(&cache.Status.Conditions, metav1.Condition{Type: "Checked", Status: metav1.ConditionTrue, Reason: "Test"})
		Expect(plane.Client.Status().Patch(ctx, cache, client.MergeFrom(before))).To(Succeed())

		edit(ctx, cache, func() { cache.Spec.Size = 2 })
		waitFor(ctx, current(cache), beReady(2))
		Expect(meta.FindStatusCondition(cache.Status.Conditions, workload.Available).LastTransitionTime.Time).To(BeTemporally("==", hourAgo.Time))
		Expect(meta.IsStatusConditionTrue(cache.Status.Conditions, "Checked")).To(BeTrue())
	})
})
