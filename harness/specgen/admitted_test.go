package specgen

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/controlplane"
)

func TestAPIServerAgreesWithSchema(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	plane, err := controlplane.Start(t.Context(), controlplane.Options{CRDs: []string{"testdata"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, kind := range []string{"Certificate", "Cluster"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			schema := load(t, kind)
			tried := map[string]bool{}
			for _, transition := range schema.Transitions(1, 200) {
				for _, spec := range []map[string]any{transition.From, transition.To} {
					if key := keyOf(spec); !tried[key] {
						tried[key] = true
						g.Expect(plane.Client.Create(t.Context(), withSpec(like(kind), "tried", spec), client.DryRunAll)).To(Succeed(), key)
					}
				}
			}
			g.Expect(len(tried)).To(BeNumerically(">", 100))
			for _, bad := range schema.Invalid() {
				err := plane.Client.Create(t.Context(), withSpec(like(kind), "tried", bad.Spec), client.DryRunAll)
				g.Expect(errors.IsInvalid(err)).To(BeTrue(), "%s: got %v for %s, want an error like %s", bad.Field, err, keyOf(bad.Spec), bad.Why)
			}
		})
	}
	t.Run("Queue", func(t *testing.T) {
		t.Parallel()
		testAdmitted(t, plane)
	})
}

func testAdmitted(t *testing.T, plane *controlplane.ControlPlane) {
	g := NewWithT(t)
	all := load(t, "Queue").Transitions(1, 200)
	admitted, refused, err := Admitted(t.Context(), plane.Client, like("Queue"), all)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(len(admitted) + len(refused)).To(Equal(len(all)))

	var words []string
	for _, transition := range admitted {
		words = append(words, transition.String())
	}
	g.Expect(words).To(ContainElements("spec.size: absent → 3", "spec.size: 0 → 3", "spec.size: 1 → absent"))
	g.Expect(words).NotTo(ContainElement(ContainSubstring("spec.engine")))
	g.Expect(words).NotTo(ContainElement("spec.size: 3 → 0"))

	g.Expect(refused).To(ContainElement(MatchError(And(HavePrefix(`spec.engine: "rabbit" → "kafka": `), ContainSubstring("the engine cannot change")))))
	g.Expect(refused).To(ContainElement(MatchError(And(HavePrefix("spec.size: 3 → 0: "), ContainSubstring("a queue cannot shrink")))))
	g.Expect(refused).To(ContainElement(MatchError(ContainSubstring("an engine of none has no size"))))

	remaining := &unstructured.UnstructuredList{}
	remaining.SetGroupVersionKind(like("Queue").GroupVersionKind())
	g.Expect(plane.Client.List(t.Context(), remaining)).To(Succeed())
	g.Expect(remaining.Items).To(BeEmpty(), "Admitted must delete its resources")

	user, err := plane.User(t.Context(), "user-without-permissions")
	g.Expect(err).NotTo(HaveOccurred())
	unprivileged, err := client.New(user, client.Options{Scheme: plane.Client.Scheme()})
	g.Expect(err).NotTo(HaveOccurred())
	_, _, err = Admitted(t.Context(), unprivileged, like("Queue"), all)
	g.Expect(err).To(MatchError(ContainSubstring(`"user-without-permissions" cannot patch resource "queues"`)), "a missing permission is not a rejection")
}

func load(t *testing.T, kind string) *Schema {
	t.Helper()
	schema, err := New(readCRD(t, strings.ToLower(kind)), like(kind).GroupVersionKind().Version)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func like(kind string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	versions := map[string]string{"Certificate": "v1", "Cluster": "v1", "Queue": "v1beta1"}
	object.SetAPIVersion("shapes.example.com/" + versions[kind])
	object.SetKind(kind)
	object.SetNamespace("default")
	object.SetName("tried")
	return object
}
