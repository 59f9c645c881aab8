package integration

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/operator-assay/assay/test/edits"
)

var _ = Describe("The contract of Memcached", func() {
	memcacheds.describeRejected(edits.Memcached.Refusals)

	memcacheds.describeAccepted(edits.Memcached.Acceptances)

	nameRule := []string{"metadata.name must have at most 63 characters", "DNS label"}
	DescribeTable("rejects a name that is invalid for a child", memcacheds.expectNameRejected,
		Entry("of 64 characters", strings.Repeat("a", 64), nameRule),
		Entry("with a dot", "my.cache", nameRule),
		Entry("that begins with a hyphen", "-cache", []string{"metadata.name", "RFC 1123"}),
		Entry("that ends with a hyphen", "cache-", []string{"metadata.name", "RFC 1123"}),
		Entry("with upper case", "Cache", []string{"metadata.name", "RFC 1123"}),
		Entry("with an underscore", "my_cache", []string{"metadata.name", "RFC 1123"}),
		Entry("that is empty", "", []string{"name or generateName is required"}),
	)
	DescribeTable("rejects a generated name that is invalid for a child", memcacheds.expectGeneratedNameRejected,
		Entry("with a dot", "my.cache-", nameRule), // the API server shortens generated names that are too long
	)
	DescribeTable("creates every child of a Memcached", memcacheds.expectNameServed,
		Entry("with the longest name", strings.Repeat("c", 63)),
		Entry("with the longest name, all digits", strings.Repeat("1", 63)),
		Entry("with one digit as its name", "1"),
		Entry("with a name that begins with a digit", "0-cache"),
	)

	It("keeps an explicit size of 0 that a Go client sends", func(ctx SpecContext) {
		none := serving(ctx, newMemcached(newNamespace(ctx), "none", 0), 0)
		Expect(deploymentOf(ctx, none).Spec.Replicas).To(Equal(ptr.To[int32](0)))
		Expect(none).To(haveCondition("Available", metav1.ConditionFalse, "ScaledToZero"))
	})

	It("accepts a large size, and reports the quota that limits it", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		newQuota(ctx, namespace, corev1.ResourcePods, "0")
		large := newMemcached(namespace, "large", 100_000)
		create(ctx, large)
		waitFor(ctx, current(large), haveCondition("Degraded", metav1.ConditionTrue, "PodCreationFailed"))
		Expect(deploymentOf(ctx, large).Spec.Replicas).To(Equal(ptr.To[int32](100_000)))

		edit(ctx, large, func() { large.Spec.Size = 0 })
		waitFor(ctx, current(large), beReady(0))
	})
})
