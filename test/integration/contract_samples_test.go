package integration

import (
	"bytes"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/operator/config"
)

var _ = Describe("The sample", func() {
	DescribeTable("can be applied unchanged with strict validation",
		func(ctx SpecContext, c contract, sample []byte) {
			resource := c.valid(newNamespace(ctx), "", 0)
			name := struct{ Metadata metav1.ObjectMeta }{}
			Expect(yaml.Unmarshal(sample, &name)).To(Succeed())
			resource.SetName(name.Metadata.Name)
			apply := func(manifest []byte) error {
				return plane.Client.Patch(ctx, c.named(resource), client.RawPatch(types.ApplyYAMLPatchType, manifest), client.FieldOwner("kubectl"))
			}

			Expect(apply(sample)).To(Succeed())
			waitFor(ctx, current(resource), beReady(3))

			By("Applying it again without a change")
			version := resource.GetResourceVersion()
			Expect(apply(sample)).To(Succeed())
			Expect(current(resource)(ctx)).To(HaveField("GetResourceVersion()", version))

			By("Applying it with a misspelled field")
			misspelt := bytes.Replace(sample, []byte("\nspec:"), []byte("\nspec:\n  colour: red"), 1)
			Expect(apply(misspelt)).To(MatchError(ContainSubstring("colour")))
		},
		Entry("of WebServer", webServers, config.WebServerSample),
		Entry("of Memcached", memcacheds, config.MemcachedSample),
	)
})
