package integration

import (
	"encoding/json"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/test/edits"
	"github.com/operator-assay/assay/test/scenarios"
)

// contract describes a kind for the table-driven specs.
type contract struct {
	scenarios.TestKind
	edits.Contract
	valid        func(namespace, name string, count int32) workloadObject
	longestName  int
	invalidNames []string // in addition to a name that is one character too long
	nameRule     []string // parts of the error message for an invalid name
}

var (
	kinds      = scenarios.New(scenarios.Published)
	webServers = contract{
		kinds.WebServer, edits.WebServer, func(namespace, name string, count int32) workloadObject { return newWebServer(namespace, name, count) },
		55, []string{"web.server", "1web"}, []string{"metadata.name must have at most 55 characters", "NAME-service", "beginning with a letter"},
	}
	memcacheds = contract{
		kinds.Memcached, edits.Memcached, func(namespace, name string, count int32) workloadObject { return newMemcached(namespace, name, count) },
		63, []string{"my.cache"}, []string{"metadata.name must have at most 63 characters", "DNS label"},
	}
	contracts = []contract{webServers, memcacheds}
)

var _ = Describe("The contract of", func() {
	for _, c := range contracts {
		Describe(c.Kind, func() {
			It("rejects each invalid edit, and keeps running", c.expectEditsRejected)
			It("accepts each valid edit", c.expectEditsAccepted)
			It("rejects a name that is invalid for a child", c.expectNamesRejected)
			It("accepts the longest name", func(ctx SpecContext) {
				serving(ctx, c.valid(newNamespace(ctx), strings.Repeat("a", c.longestName), 2), 2)
			})
		})
	}

	It("Memcached accepts a name of digits", func(ctx SpecContext) {
		serving(ctx, newMemcached(newNamespace(ctx), strings.Repeat("1", 63), 1), 1)
	})
})

// edited applies the edit to a valid resource with two Pods and returns the result. It does not create the resource.
func (c contract) edited(namespace, edit string) *unstructured.Unstructured {
	GinkgoHelper()
	valid, err := json.Marshal(c.valid(namespace, "edited", 2))
	Expect(err).NotTo(HaveOccurred())
	merged, err := jsonpatch.MergePatch(valid, []byte(edit))
	Expect(err).NotTo(HaveOccurred())
	object := &unstructured.Unstructured{Object: map[string]any{}}
	Expect(json.Unmarshal(merged, &object.Object)).To(Succeed())
	object.SetGroupVersionKind(c.GroupVersionKind)
	return object
}

// expectEditsRejected expects the API server to reject each invalid edit, both in a new resource and as a patch to a
// running one. The running resource must not change and must still accept a valid edit.
func (c contract) expectEditsRejected(ctx SpecContext) {
	namespace := newNamespace(ctx)
	running := serving(ctx, c.valid(namespace, "running", 2), 2)
	pods, version := running.CommonStatus().Nodes, running.GetResourceVersion()
	for _, r := range c.Refusals {
		By(r.What)
		expectRefusal(plane.Client.Create(ctx, c.edited(namespace, r.Edit)), r.Says)
		expectRefusal(plane.Client.Patch(ctx, c.named(running), client.RawPatch(types.MergePatchType, []byte(r.Edit))), r.Says)
	}
	Expect(current(running)(ctx)).To(HaveField("GetResourceVersion()", version))

	By("A valid edit")
	edit := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"`+c.Replicas+`":3}}`))
	Expect(plane.Client.Patch(ctx, running, edit)).To(Succeed())
	waitFor(ctx, current(running), beReady(3))
	Expect(running.CommonStatus().Nodes).To(ContainElements(pods))
}

// expectEditsAccepted sends each valid edit as a new resource and as a patch. It uses dry runs, because creating many
// Pods takes time.
func (c contract) expectEditsAccepted(ctx SpecContext) {
	existing := c.valid(newNamespace(ctx), "existing", 0)
	create(ctx, existing)
	for _, a := range c.Acceptances {
		By(a.What)
		created, patched := c.edited(existing.GetNamespace(), a.Edit), c.named(existing)
		Expect(plane.Client.Create(ctx, created, client.DryRunAll)).To(Succeed())
		expectInForce(created, a)
		Expect(plane.Client.Patch(ctx, patched, client.RawPatch(types.MergePatchType, []byte(a.Edit)), client.DryRunAll)).To(Succeed())
		expectInForce(patched, a)
	}
}

func (c contract) expectNamesRejected(ctx SpecContext) {
	namespace := newNamespace(ctx)
	for _, name := range append(c.invalidNames, strings.Repeat("a", c.longestName+1)) {
		By(name)
		expectRefusal(plane.Client.Create(ctx, c.valid(namespace, name, 1)), c.nameRule)
	}
}

// named returns an unstructured object with only its kind, namespace and name set.
func (c contract) named(resource client.Object) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(c.GroupVersionKind)
	object.SetNamespace(resource.GetNamespace())
	object.SetName(resource.GetName())
	return object
}

// expectInForce expects that the stored object matches the merge patch Stored, or Edit if Stored is empty.
func expectInForce(taken *unstructured.Unstructured, a edits.Acceptance) {
	GinkgoHelper()
	stored, err := json.Marshal(taken)
	Expect(err).NotTo(HaveOccurred())
	again, err := jsonpatch.MergePatch(stored, []byte(a.Edit))
	if a.Stored != "" {
		again, err = jsonpatch.MergePatch(stored, []byte(a.Stored))
	}
	Expect(err).NotTo(HaveOccurred())
	Expect(stored).To(MatchJSON(again))
}

// expectRefusal expects that the API server rejects the request with a message that contains all of the given words.
func expectRefusal(err error, says []string) {
	GinkgoHelper()
	Expect(err).To(HaveOccurred())
	refused := apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
	Expect(refused).To(BeTrue(), "got another error: %v", err)
	for _, words := range says {
		Expect(strings.ToLower(err.Error())).To(ContainSubstring(strings.ToLower(words)))
	}
}
