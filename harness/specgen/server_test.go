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

// TestAnAPIServerAgrees compares valid and invalid specs with the verdict of a real API server.
func TestAnAPIServerAgrees(t *testing.T) {
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
				g.Expect(errors.IsInvalid(err)).To(BeTrue(), "%s: %s: the server says %v of %s", bad.Field, bad.Why, err, keyOf(bad.Spec))
			}
		})
	}
	t.Run("Queue", func(t *testing.T) {
		t.Parallel()
		admittedByRules(t, plane)
	})
}

// admittedByRules tests Admitted with CEL rules.
func admittedByRules(t *testing.T, plane *controlplane.ControlPlane) {
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

	left := &unstructured.UnstructuredList{}
	left.SetGroupVersionKind(like("Queue").GroupVersionKind())
	g.Expect(plane.Client.List(t.Context(), left)).To(Succeed())
	g.Expect(left.Items).To(BeEmpty(), "nothing is left of the attempts")

	stranger, err := plane.User(t.Context(), "stranger")
	g.Expect(err).NotTo(HaveOccurred())
	powerless, err := client.New(stranger, client.Options{Scheme: plane.Client.Scheme()})
	g.Expect(err).NotTo(HaveOccurred())
	_, _, err = Admitted(t.Context(), powerless, like("Queue"), all)
	g.Expect(err).To(MatchError(ContainSubstring(`"stranger" cannot patch resource "queues"`)), "that is no judgement of the specs")
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
