package explore

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

// The operator in this test remembers resources by name, so it does not notice that a resource was deleted and
// recreated. No other fault recreates resources.
func TestStaleMemoryAfterReplacementIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).oncePerInstance}), creation)
	results := explore(t, explorer, fault.Replacements)
	g.Expect(results).NotTo(BeEmpty())
	for _, r := range results {
		g.Expect(r.Triggered).To(BeTrue(), Report([]Result{r}, nil).FailureText())
		g.Expect(found(t, results, r.String())).To(ContainElement(verdict.Reference), Report([]Result{r}, nil).FailureText())
	}
}

func TestReplacementWaitsForFinalizer(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	results := explore(t, newExplorer(t, operator(copier{copy: (*copier).cleaningUp}), creation), fault.Replacements)
	g.Expect(Report(results, nil).FailureText()).To(BeEmpty())
	g.Expect(found(t, results, "copier/create replaced apply secrets web-copy 1")).To(BeEmpty())
}

func TestReplacementKeepsFinalizersOfUser(t *testing.T) {
	g := NewWithT(t)
	var resource unstructured.Unstructured
	resource.SetFinalizers([]string{"users", "operators"})
	entry := func(manager, finalizer string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:finalizers":{"v:\"` + finalizer + `\"":{}}}}`)}
	}
	resource.SetManagedFields([]metav1.ManagedFieldsEntry{entry(scenario.User, "users"), entry("operator", "operators")})
	g.Expect(asApplied(&resource).GetFinalizers()).To(Equal([]string{"users"}))
}
