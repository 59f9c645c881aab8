package explore

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/report/results"
)

// resyncing swallows an error, and heals by its resync.
func resyncing(period time.Duration) Operator {
	return operator(copier{copy: func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		if c.apply(ctx, of, of.Name+"-copy") != nil {
			return reconcile.Result{RequeueAfter: period}, nil
		}
		return reconcile.Result{}, nil
	}})
}

var refusedCopy = Plan{Scenario: creation.Name, Fault: faultinject.Fault{Type: faultinject.Error500, At: firstApply}}

func TestAResyncIsWaitedFor(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, resyncing(short*3/4), creation)
	played, err := explorer.Replay(t.Context(), refusedCopy)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found(t, played, refusedCopy.String())).To(Equal([]string{Late}))
	g.Expect(played[0].Findings[0].Message).To(MatchRegexp(`^IsCopied\(A\) took [78]\.?\d*s, more than 5s$`))
}

func TestWhatALongResyncHealsIsLateAndNotLost(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, resyncing(short*3/2), creation)
	played, err := explorer.Replay(t.Context(), refusedCopy)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found(t, played, refusedCopy.String())).To(Equal([]string{Converges, Reference}))
	g.Expect(explorer.Confirm(t.Context(), played)).To(Succeed())
	g.Expect(found(t, played, refusedCopy.String())).To(Equal([]string{Late}))
	g.Expect(played[0].Findings[0].Message).To(MatchRegexp(`^IsCopied\(A\) took 1[4567]\.?\d*s, more than 5s$`))
	g.Expect(played[0].Confirmation).To(HaveValue(Equal(results.Confirmation{Played: 3, Failed: 3, PlayedWithoutFault: 2})))
}

func TestALostStateIsWaitedForAsLongAsAResyncTakes(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, operator(copier{copy: func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		_ = c.apply(ctx, of, of.Name+"-copy")
		return reconcile.Result{RequeueAfter: 3 * short / 2}, nil
	}}), creation)
	explorer.StepTimeout = short / 5 // so that two minutes are 12 s
	explorer.startLastingRun(creation, explorer.reference(creation.Name))
	played, err := explorer.Replay(t.Context(), refusedCopy)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found(t, played, refusedCopy.String())).To(Equal([]string{Converges, Reference}))
	g.Eventually(explorer.resync).WithTimeout(long).Should(BeNumerically("~", 3*short/2, short/2))
	g.Expect(explorer.Confirm(t.Context(), played)).To(Succeed())
	g.Expect(found(t, played, refusedCopy.String())).To(Equal([]string{Late}))
}

func TestAStepIsNotLateThatIsSlowWithoutAFaultToo(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	slow := operator(copier{copy: func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		if age := time.Since(of.CreationTimestamp.Time); age < short {
			return reconcile.Result{RequeueAfter: short - age}, nil
		}
		return c.correctly(ctx, of)
	}})
	explorer := newExplorer(t, slow, creation)
	g.Expect(explorer.learn(t.Context())).To(Succeed())
	explorer.StepTimeout = short / 2
	played, err := explorer.Replay(t.Context(), refusedCopy)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(played[0].Findings).To(BeEmpty())
}

// TestAStepThatIsSlowBeforeTheFaultIsNotItsDoing has the operator be slow at the first of two changes, but not in the reference.
func TestAStepThatIsSlowBeforeTheFaultIsNotItsDoing(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var slow atomic.Bool
	explorer := newImpatientExplorer(t, operator(copier{blind: true, copy: func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		if age := time.Since(of.CreationTimestamp.Time); slow.Load() && age < short*3/4 {
			return reconcile.Result{RequeueAfter: short*3/4 - age}, nil
		}
		return c.correctly(ctx, of)
	}}), change)
	slow.Store(true)
	for nth, oracles := range map[int][]string{1: {Late}, 2: nil, 9: {Late}} { // of the last, no request is sent
		plan := Plan{Scenario: change.Name, Fault: faultinject.Fault{Type: faultinject.LostResponse, At: firstApply}}
		plan.Fault.At.Nth = nth
		played, err := explorer.Replay(t.Context(), plan)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found(t, played, plan.String())).To(Equal(oracles), plan.String())
	}
}

func TestAnOperatorMayStartSlowlyThatDoesSoWithoutAFaultToo(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	correct := operator(copier{copy: (*copier).correctly})
	explorer := newExplorer(t, func(ctx context.Context, namespace string, config *rest.Config, log io.Writer) error {
		select {
		case <-time.After(short * 3 / 5):
		case <-ctx.Done():
		}
		return correct(ctx, namespace, config, log)
	}, creation)
	g.Expect(explorer.learn(t.Context())).To(Succeed())
	explorer.StepTimeout = short / 2
	played, err := explorer.Replay(t.Context(), refusedCopy)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(played[0].Findings).To(BeEmpty())
}

func TestAPlanThatIsRightByNowIsNotLate(t *testing.T) {
	g := NewWithT(t)
	lost, late := Finding{Oracle: Reference, Message: "lost"}, Finding{Oracle: Late, Message: "late"}
	all := []Result{{Findings: []Finding{lost}}, {}}
	healed := trial{cause: []int{0, 1}, healed: []Finding{late}, Confirmation: results.Confirmation{Played: 2, Failed: 1}}
	healed.noteHealed(all)
	g.Expect(all[0].Findings).To(Equal([]Finding{late}))
	g.Expect(all[1].Passed()).To(BeTrue())
}
