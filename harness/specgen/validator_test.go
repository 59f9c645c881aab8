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
	for kind, least := range map[string]int{"Certificate": 30, "Cluster": 30, "Queue": 3} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			create := func(spec map[string]any) error {
				object := &unstructured.Unstructured{Object: map[string]any{specField: spec}}
				object.SetAPIVersion("shapes.example.com/" + versions[kind])
				object.SetKind(kind)
				object.SetNamespace("default")
				object.SetName("tried")
				return plane.Client.Create(t.Context(), object, client.DryRunAll)
			}
			schema := load(t, kind)
			tried := map[string]bool{}
			for _, transition := range schema.Transitions(1, 200) {
				for _, spec := range []map[string]any{transition.From, transition.To} {
					if key := keyOf(spec); !tried[key] {
						tried[key] = true
						g.Expect(create(spec)).To(Succeed(), key)
					}
				}
			}
			g.Expect(len(tried)).To(BeNumerically(">", least))
			for _, bad := range schema.Invalid() {
				err := create(bad.Spec)
				g.Expect(errors.IsInvalid(err)).To(BeTrue(), "%s: got %v for %s, want an error like %s", bad.Field, err, keyOf(bad.Spec), bad.Why)
			}
		})
	}
}

var versions = map[string]string{"Certificate": "v1", "Cluster": "v1", "Queue": "v1beta1"}

func load(t *testing.T, kind string) *Schema {
	t.Helper()
	schema, err := New(readCRD(t, strings.ToLower(kind)), versions[kind], nil)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
