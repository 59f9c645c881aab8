package specgen

import (
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
	for name, test := range map[string]struct{ version, kind, spec string }{
		"cluster": {"v1", "Cluster", "{instances: 3, storage: {size: 1Gi}, bootstrap: {initdb: {}}, ports: [{name: a, port: 1}, {name: b, port: 2}]}"},
		"queue":   {"v1beta1", "Queue", "{engine: kafka, size: 3}"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			create := func(spec map[string]any) error {
				object := &unstructured.Unstructured{Object: map[string]any{specField: spec}}
				object.SetAPIVersion("shapes.example.com/" + test.version)
				object.SetKind(test.kind)
				object.SetNamespace("default")
				object.SetName("tried")
				return plane.Client.Create(t.Context(), object, client.DryRunAll)
			}
			schema, spec := load(t, name), parse(t, test.spec)
			g.Expect(create(spec)).To(Succeed())
			for _, transition := range schema.Transitions(spec, 5) {
				g.Expect(create(transition.To)).To(Succeed(), transition.String())
			}
			for _, bad := range schema.Invalid(spec) {
				err := create(bad.Spec)
				g.Expect(errors.IsInvalid(err)).To(BeTrue(), "got %v for %s, want an error like %s", err, keyOf(bad.Spec), bad.Why)
			}
		})
	}
}
