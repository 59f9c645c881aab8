package explore

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
			var progress strings.Builder
			explorer.Progress = &progress
			g.Expect(explorer.Confirm(t.Context(), failing)).To(Succeed())
			g.Expect(progress.String()).To(HavePrefix("confirm    plans that are run 2 times more, and their scenarios without a fault: 1\n"))
			g.Expect(failing[0].Confirmation).To(HaveValue(Equal(test.want)))
			g.Expect(failing[0].Confirmation.Unstable()).To(Equal(test.unstable))
		})
	}
}

func TestAnotherPlanOfACauseIsRunAgainIfTheFirstPasses(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var conflicts atomic.Int32
	swallowingFirst := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		err := c.apply(ctx, of, of.Name+"-copy")
		if apierrors.IsConflict(err) && conflicts.Add(1) > 1 {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, nil
	}
	explorer := newImpatientExplorer(t, operator(copier{copy: swallowingFirst}), creation)
	failing, err := explorer.Replay(t.Context(),
		Plan{Scenario: creation.Name, Fault: faultinject.Fault{Type: faultinject.Error409, At: firstApply}},
		Plan{Scenario: creation.Name, Fault: faultinject.Fault{Type: faultinject.Error500, At: firstApply}})
	g.Expect(err).NotTo(HaveOccurred())
	failing[1].Run = nil // so that the other one is the better example
	g.Expect(explorer.Confirm(t.Context(), failing)).To(Succeed())
	g.Expect(failing[0].Confirmation).To(HaveValue(Equal(results.Confirmation{Played: 3, Failed: 1, PlayedWithoutFault: 2})))
	g.Expect(failing[1].Confirmation).To(HaveValue(Equal(results.Confirmation{Played: 3, Failed: 3, PlayedWithoutFault: 2})))
}
