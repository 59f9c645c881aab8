package integration

import (
	"cmp"
	"encoding/json"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/test/scenarios"
)

// contract describes a kind for the table-driven specs. The edits are JSON merge patches that are applied to a valid
// resource.
type contract struct {
	scenarios.TestKind
	valid        func(namespace, name string, count int32) workloadObject
	rejected     []rejectedEdit
	accepted     []acceptedEdit
	longestName  int
	invalidNames []string // in addition to a name that is one character too long
	nameRule     string   // a regular expression for the error message
}

// rejectedEdit is an edit that the API server rejects. The error message matches the regular expression.
type rejectedEdit struct{ edit, message string }

// acceptedEdit is an edit that the API server accepts. stored is a merge patch with the values that the API server
// stores. It is empty if they are the same as in the edit.
type acceptedEdit struct{ edit, stored string }

const imageRule = `spec\.image.*must be an image reference without blanks, such as nginx:1\.23\.1`

var (
	kinds      = scenarios.New(scenarios.Published)
	webServers = contract{
		TestKind: kinds.WebServer,
		valid:    func(namespace, name string, count int32) workloadObject { return newWebServer(namespace, name, count) },
		rejected: []rejectedEdit{
			{`{"spec":{"image":null}}`, `spec\.image: Required value`},
			{`{"spec":{"replicas":-1}}`, `spec\.replicas .*greater than or equal to 0`},
			{`{"spec":{"replicas":2147483648}}`, `int32 in spec\.replicas`},
			{`{"spec":{"port":0}}`, `spec\.port .*greater than or equal to 1`},
			{`{"spec":{"port":65536}}`, `spec\.port .*less than or equal to 65535`},
			{`{"spec":{"nodePort":29999}}`, `spec\.nodePort .*greater than or equal to 30000`},
			{`{"spec":{"nodePort":32768}}`, `spec\.nodePort .*less than or equal to 32767`},
			{`{"spec":{"nodePort":0}}`, `spec\.nodePort .*greater than or equal to 30000`},
		},
		accepted: []acceptedEdit{
			{`{"spec":{"replicas":null}}`, `{"spec":{"replicas":1}}`}, {`{"spec":{"replicas":0}}`, ``}, {`{"spec":{"replicas":2147483647}}`, ``},
			{`{"spec":{"port":null}}`, `{"spec":{"port":80}}`}, {`{"spec":{"port":1}}`, ``}, {`{"spec":{"port":65535}}`, ``},
			{`{"spec":{"nodePort":null}}`, ``}, {`{"spec":{"nodePort":30000}}`, ``}, {`{"spec":{"nodePort":32767}}`, ``},
		},
		longestName: 55, invalidNames: []string{"web.server", "1web"}, nameRule: "metadata.name must have at most 55 characters.*NAME-service.*beginning with a letter",
	}
	memcacheds = contract{
		TestKind: kinds.Memcached,
		valid:    func(namespace, name string, count int32) workloadObject { return newMemcached(namespace, name, count) },
		rejected: []rejectedEdit{
			{`{"spec":{"size":null}}`, `spec\.size: Required value`},
			{`{"spec":{"size":-1}}`, `spec\.size .*greater than or equal to 0`},
			{`{"spec":{"size":2147483648}}`, `int32 in spec\.size`},
		},
		accepted: []acceptedEdit{
			{`{"spec":{"size":0}}`, ``}, {`{"spec":{"size":2147483647}}`, ``},
			{`{"spec":{"image":null}}`, `{"spec":{"image":"memcached:1.6.39-alpine"}}`},
		},
		longestName: 63, invalidNames: []string{"my.cache"}, nameRule: "metadata.name must have at most 63 characters.*DNS label",
	}
	contracts = []contract{webServers, memcacheds}

	// These edits apply to both kinds. TestImageRuleAgreesWithContainerRuntimes covers more images.
	rejectedEdits = []rejectedEdit{
		{`{"spec":null}`, `spec: Required value`},
		{`{"spec":{"unknown":3}}`, `unknown field "spec\.unknown"`},
		{`{"spec":{"image":""}}`, imageRule},
		{`{"spec":{"image":" "}}`, imageRule},
		{`{"spec":{"image":1.23}}`, `spec\.image .*must be of type string`},
		{`{"spec":{"image":"` + strings.Repeat("a", 64) + `"}}`, `spec\.image.*image's name.*ID`},
		{`{"spec":{"image":"` + strings.Repeat("a/", 256) + `a"}}`, `spec\.image.*512`},
	}
	longestImage = acceptedEdit{`{"spec":{"image":"` + strings.Repeat("a/", 255) + `aa"}}`, ``}
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
	for _, r := range append(rejectedEdits, c.rejected...) {
		By(r.edit)
		expectRefusal(plane.Client.Create(ctx, c.edited(namespace, r.edit)), r.message)
		expectRefusal(plane.Client.Patch(ctx, c.named(running), client.RawPatch(types.MergePatchType, []byte(r.edit))), r.message)
	}
	Expect(current(running)(ctx)).To(HaveField("GetResourceVersion()", version))

	By("A valid edit")
	edit := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"`+c.Replicas+`":3}}`))
	Expect(plane.Client.Patch(ctx, running, edit)).To(Succeed())
	waitFor(ctx, current(running), beReady(3))
	Expect(running.CommonStatus().Nodes).To(ContainElements(pods))
}

// expectEditsAccepted sends each valid edit as a new resource and as a patch. It uses dry runs, because some edits
// request billions of Pods.
func (c contract) expectEditsAccepted(ctx SpecContext) {
	existing := c.valid(newNamespace(ctx), "existing", 0)
	create(ctx, existing)
	for _, a := range append(c.accepted, longestImage) {
		By(a.edit)
		created, patched := c.edited(existing.GetNamespace(), a.edit), c.named(existing)
		Expect(plane.Client.Create(ctx, created, client.DryRunAll)).To(Succeed())
		expectInForce(created, a)
		Expect(plane.Client.Patch(ctx, patched, client.RawPatch(types.MergePatchType, []byte(a.edit)), client.DryRunAll)).To(Succeed())
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

// expectInForce expects that the object returned by the API server contains the values that the edit should store.
func expectInForce(taken *unstructured.Unstructured, a acceptedEdit) {
	GinkgoHelper()
	stored, err := json.Marshal(taken)
	Expect(err).NotTo(HaveOccurred())
	again, err := jsonpatch.MergePatch(stored, []byte(cmp.Or(a.stored, a.edit)))
	Expect(err).NotTo(HaveOccurred())
	Expect(stored).To(MatchJSON(again))
}

// expectRefusal expects that the API server rejects the request with a message that matches the regular expression.
func expectRefusal(err error, message string) {
	GinkgoHelper()
	Expect(apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)).To(BeTrue(), "got another error: %v", err)
	Expect(err).To(MatchError(MatchRegexp("(?is)" + message)))
}
