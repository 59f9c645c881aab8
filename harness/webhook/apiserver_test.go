package webhook

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const greeterCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: greeters.example.com}
spec:
  group: example.com
  names: {kind: Greeter, listKind: GreeterList, plural: greeters, singular: greeter}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {by: {type: string}}}}}}
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {}}}
`

// TestListWithUnconvertibleObject checks that lists succeed when one of the objects cannot be converted. The API
// server's watch cache contains the objects in all namespaces.
func TestListWithUnconvertibleObject(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	var crd apiextensionsv1.CustomResourceDefinition
	g.Expect(yaml.Unmarshal([]byte(greeterCRD), &crd)).To(Succeed())
	crd.Spec.Conversion.Webhook.ClientConfig = &apiextensionsv1.WebhookClientConfig{URL: new(router.ConversionURL(manager, port, "/convert", "v1")), CABundle: router.CA}
	plane := controlPlane(t)
	g.Expect(plane.Client.Create(ctx, &crd)).To(Succeed())
	t.Cleanup(func() { g.Expect(plane.Client.Delete(context.Background(), &crd)).To(Succeed()) })
	g.Eventually(func() error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "GreeterList"})
		return plane.Client.List(ctx, list)
	}).Should(Succeed())

	greeter := func(version, namespace, name string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Greeter"})
		object.SetNamespace(namespace)
		object.SetName(name)
		return object
	}
	convertedBy := func(namespace, name string) (string, error) {
		object := greeter("v2", namespace, name)
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		by, _, _ := unstructured.NestedString(object.Object, "spec", "by")
		return by, err
	}
	one, err := plane.CreateNamespace(ctx, "run")
	g.Expect(err).NotTo(HaveOccurred())
	two, err := plane.CreateNamespace(ctx, "run")
	g.Expect(err).NotTo(HaveOccurred())
	run, end := context.WithCancel(ctx)
	attach(run, t, router, one, converter("first"))
	attach(ctx, t, router, two, converter("second"))
	for _, object := range []*unstructured.Unstructured{greeter("v1", one, "hello"), greeter("v1", one, "broken"), greeter("v1", two, "hello")} {
		g.Expect(plane.Client.Create(ctx, object)).To(Succeed())
	}
	g.Expect(convertedBy(one, "hello")).To(Equal("first"))
	g.Expect(convertedBy(two, "hello")).To(Equal("second"))
	g.Expect(convertedBy(one, "broken")).To(BeEmpty())
	g.Expect(plane.Client.Create(ctx, greeter("v2", two, "written"))).To(Succeed())
	g.Expect(plane.Client.Create(ctx, greeter("v2", two, "broken"))).To(MatchError(ContainSubstring("this one is broken")))

	listed := func() (int, error) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "GreeterList"})
		err := plane.Client.List(ctx, list)
		return len(list.Items), err
	}
	g.Expect(listed()).To(Equal(4))

	end() // stops the operator in the namespace of the broken object
	g.Expect(plane.Client.Get(ctx, client.ObjectKeyFromObject(&crd), &crd)).To(Succeed())
	crd.Spec.Names.ShortNames = []string{"gr"}
	g.Expect(plane.Client.Update(ctx, &crd)).To(Succeed(), "an update of the CRD makes the API server drop its caches")
	g.Eventually(func() ([]string, error) {
		resources, err := discovery.NewDiscoveryClientForConfigOrDie(plane.Config).ServerResourcesForGroupVersion("example.com/v2")
		if err != nil || len(resources.APIResources) == 0 {
			return nil, err
		}
		return resources.APIResources[0].ShortNames, nil
	}).Should(Equal([]string{"gr"}))
	g.Eventually(listed).Should(Equal(4))
	g.Expect(convertedBy(one, "hello")).To(Equal("second"))
}
