package integration

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What users see of the API, by kubectl and by their own clients.
var _ = Describe("The surface", func() {
	DescribeTable("is found by its short name and in the category all",
		func(ctx SpecContext, c contract, singular, short string) {
			found := discovered(c.GroupVersion())
			Expect(found).To(HaveKeyWithValue(c.plural, And(
				HaveField("Kind", c.Kind),
				HaveField("SingularName", singular),
				HaveField("Namespaced", true),
				HaveField("ShortNames", HaveExactElements(short)),
				HaveField("Categories", HaveExactElements("all")))))
			Expect(found).To(HaveKeyWithValue(c.plural+"/status", HaveField("Kind", c.Kind)))
			Expect(found).To(HaveKeyWithValue(c.plural+"/scale", And(
				HaveField("Group", "autoscaling"), HaveField("Version", "v1"), HaveField("Kind", "Scale"))))
		},
		Entry("as ws", webServers, "webserver", "ws"),
		Entry("as mc", memcacheds, "memcached", "mc"),
	)

	It("shows WebServers as a table", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		web := newWebServer(namespace, "web", 2)
		create(ctx, web)
		waitFor(ctx, current(web), beReady(2))
		columns, wide, rows := tableOf(ctx, webServers, namespace)
		Expect(columns).To(Equal([]string{"Name", "Desired", "Ready", "Available", "Node-Port", "Image", "Age"}))
		Expect(wide).To(Equal([]string{"Degraded"}))
		age := MatchRegexp(`^\d+[sm]`)
		Expect(rows).To(HaveExactElements(HaveExactElements(
			BeEquivalentTo("web"), BeEquivalentTo(2), BeEquivalentTo(2), BeEquivalentTo("True"), BeEquivalentTo(web.Status.NodePort),
			BeEquivalentTo("nginx:1.23.1"), age, BeEquivalentTo("AsExpected"))))
	})

	It("shows Memcacheds as a table", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		cache := newMemcached(namespace, "cache", 0)
		create(ctx, cache)
		waitFor(ctx, current(cache), beReady(0))
		columns, wide, rows := tableOf(ctx, memcacheds, namespace)
		Expect(columns).To(Equal([]string{"Name", "Size", "Ready", "Available", "Image", "Age"}))
		Expect(wide).To(Equal([]string{"Degraded"}))
		age := MatchRegexp(`^\d+[sm]`)
		Expect(rows).To(HaveExactElements(HaveExactElements(
			BeEquivalentTo("cache"), BeEquivalentTo(0), BeEquivalentTo(0), BeEquivalentTo("False"),
			BeEquivalentTo(string(cache.Spec.Image)), age, BeEquivalentTo("AsExpected"))))
	})

	for _, c := range contracts {
		It("keeps the status of "+c.Kind+" from whoever writes the resource", func(ctx SpecContext) {
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

		It("keeps the spec of "+c.Kind+" from whoever writes the status", func(ctx SpecContext) {
			resource := c.valid(newNamespace(ctx), "reported", 2)
			create(ctx, resource)
			waitFor(ctx, current(resource), beReady(2))
			version := resource.GetResourceVersion()
			edit := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"`+c.count+`":5},"metadata":{"labels":{"a":"b"}}}`))
			Expect(plane.Client.Status().Patch(ctx, resource, edit)).To(Succeed())
			Expect(resource.GetResourceVersion()).To(Equal(version))
		})
	}
})

// discovered is the API server's discovery of the resources of a group and version, by name.
func discovered(version schema.GroupVersion) map[string]metav1.APIResource {
	GinkgoHelper()
	clientset, err := kubernetes.NewForConfig(plane.Config)
	Expect(err).NotTo(HaveOccurred())
	list, err := clientset.Discovery().ServerResourcesForGroupVersion(version.String())
	Expect(err).NotTo(HaveOccurred())
	found := map[string]metav1.APIResource{}
	for _, resource := range list.APIResources {
		found[resource.Name] = resource
	}
	return found
}

// tableOf requests a table as kubectl get does. The wide columns are those that need -o wide; a row has the cells of
// both.
func tableOf(ctx context.Context, c contract, namespace string) (columns, wide []string, rows [][]any) {
	GinkgoHelper()
	clientset, err := kubernetes.NewForConfig(plane.Config)
	Expect(err).NotTo(HaveOccurred())
	answer, err := clientset.RESTClient().Get().
		AbsPath("apis", c.Group, c.Version, "namespaces", namespace, c.plural).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").
		DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	table := &metav1.Table{}
	Expect(json.Unmarshal(answer, table)).To(Succeed())
	Expect(table.Kind).To(Equal("Table"))
	for _, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			columns = append(columns, column.Name)
		} else {
			wide = append(wide, column.Name)
		}
	}
	for _, row := range table.Rows {
		rows = append(rows, row.Cells)
	}
	return columns, wide, rows
}
