package explore

import (
	"context"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/report/results"
)

func TestAFailureThatDoesNotComeAgainIsUnstable(t *testing.T) {
	t.Parallel()
	var swallowed atomic.Bool
	swallowingOnce := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		err := c.apply(ctx, of, of.Name+"-copy")
		if err != nil && !swallowed.Swap(true) {
			err = nil
		}
		return reconcile.Result{}, err
	}
	for name, test := range map[string]struct {
		operator Operator
		want     results.Confirmation
		unstable bool
	}{
		"always":    {operator(copier{copy: (*copier).swallowing}), results.Confirmation{Played: 3, Failed: 3, PlayedWithoutFault: 2}, false},
		"only once": {operator(copier{copy: swallowingOnce}), results.Confirmation{Played: 3, Failed: 1, PlayedWithoutFault: 2}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			explorer := newImpatientExplorer(t, test.operator, creation)
			failing, err := explorer.Replay(t.Context(), Plan{Scenario: creation.Name, Fault: faultinject.Fault{Type: faultinject.Error500, At: firstApply}})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(failing[0].Passed()).To(BeFalse())
			g.Expect(explorer.Confirm(t.Context(), failing)).To(Succeed())
			g.Expect(failing[0].Confirmation).To(HaveValue(Equal(test.want)))
			g.Expect(failing[0].Confirmation.Unstable()).To(Equal(test.unstable))
		})
	}
}
