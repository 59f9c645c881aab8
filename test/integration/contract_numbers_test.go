package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// JSON has only one number type, and some clients encode 3 as 3.0 or 3e0. If the API server stored a number that Go
// clients cannot decode, every informer of the kind would fail. The tests send the body unchanged, because a Go client
// would normalize the number.
var _ = Describe("An integer that is written as a fraction", func() {
	manifest := func(c contract, name, spec string) []byte {
		return fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"name":%q},"spec":%s}`, c.GroupVersion(), c.Kind, name, spec)
	}

	DescribeTable("is rejected in the field of the scale subresource",
		func(ctx SpecContext, c contract, spec string) {
			namespace := newNamespace(ctx)
			says := []string{"spec." + c.Replicas, "expected int64"}
			expectRefusal(post(ctx, c, namespace, manifest(c, "fraction", spec)), says)
			expectNotCreated(ctx, c.valid(namespace, "fraction", 1))

			resource := c.valid(namespace, "whole", 1)
			create(ctx, resource)
			edit := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":%s}`, spec))
			expectRefusal(plane.Client.Patch(ctx, c.named(resource), edit), says)
			waitFor(ctx, current(resource), beReady(1))
		},
		Entry("as WebServer's replicas", webServers, `{"image":"nginx:1.23.1","replicas":3.0}`),
		Entry("as Memcached's size", memcacheds, `{"size":3.0}`),
	)

	It("is accepted as a port", func(ctx SpecContext) {
		web := newWebServer(newNamespace(ctx), "web", 1)
		body := manifest(webServers, "web", `{"image":"nginx:1.23.1","port":8080.0}`)
		Expect(post(ctx, webServers, web.Namespace, body)).To(Succeed())
		waitFor(ctx, current(web), beReady(1))
		Expect(web.Spec.Port).To(BeEquivalentTo(8080))
	})
})

// post creates a resource by sending the body unchanged.
func post(ctx context.Context, c contract, namespace string, body []byte) error {
	GinkgoHelper()
	clientset, err := kubernetes.NewForConfig(plane.Config)
	Expect(err).NotTo(HaveOccurred())
	return clientset.RESTClient().Post().
		AbsPath("apis", c.Group, c.Version, "namespaces", namespace, c.Plural()).
		SetHeader("Content-Type", "application/json").
		Body(body).Do(ctx).Error()
}
