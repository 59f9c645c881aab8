package explore

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/verdict"
)

// The operator of this test remembers resources by name. Only the fault reveals this bug, because resources are never
// replaced without it.
func TestAResourceThatIsReplacedIsAnother(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	for name, test := range map[string]struct {
		explorer *Explorer
		want     types.GomegaMatcher
	}{
		"by name": {newImpatientExplorer(t, operator(copier{copy: (*copier).onceALife}), creation), ContainElement(verdict.Reference)},
		"by UID":  {newExplorer(t, operator(copier{copy: (*copier).correctly}), creation), BeEmpty()},
	} {
		results := explore(t, test.explorer, fault.Replacements)
		g.Expect(results).NotTo(BeEmpty(), name)
		for _, r := range results {
			g.Expect(r.Triggered).To(BeTrue(), r.Plan.String())
			g.Expect(found(t, results, r.Plan.String())).To(test.want, r.String())
		}
	}
	g.Expect(newExplorer(t, operator(copier{copy: (*copier).correctly}), change).Explore(t.Context(), fault.Replacements)).To(BeEmpty(), "a changed resource has a past")
}

// The operator of this test removes its own finalizer.
func TestAResourceWithAFinalizerIsReplacedWhenItIsGone(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	results := explore(t, newExplorer(t, operator(copier{copy: (*copier).cleaningUp}), creation), fault.Replacements)
	g.Expect(FailureReport(results, Plan.String)).To(BeEmpty())
	g.Expect(found(t, results, "copier/create replaced apply secrets web-copy 1")).To(BeEmpty())
}
