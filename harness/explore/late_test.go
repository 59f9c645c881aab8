package explore

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/verdict"
)

// pace is the delay of an operator. It is set after the explorer has learned the expected duration of a step, because
// that is longer on a slow machine.
type pace struct{ atomic.Int64 }

func (p *pace) get() time.Duration { return time.Duration(p.Load()) }

func (p *pace) set(explorer *Explorer, scenario string, times float64) {
	p.Store(int64(times * float64(explorer.timely(explorer.reference(scenario)))))
}

// resyncing ignores an error and recovers at its next resync.
func resyncing(period *pace) Operator {
	return operator(copier{copy: func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		if c.apply(ctx, of, of.Name+"-copy") != nil {
			return reconcile.Result{RequeueAfter: period.get()}, nil
		}
		return reconcile.Result{}, nil
	}})
}

func isCopiedLate() types.GomegaMatcher {
	return And(HaveField("Oracle", verdict.Late), HaveField("Message", MatchRegexp(`^IsCopied\(A\) took \S+, more than \S+$`)))
}

var refusedCopy = Plan{Scenario: creation.Name, Fault: fault.Fault{Type: fault.Error500, At: firstApply}}

func TestAResyncIsWaitedFor(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var period pace
	explorer := newImpatientExplorer(t, resyncing(&period), creation)
	period.set(explorer, creation.Name, 1.5)
	played, err := explorer.Replay(t.Context(), refusedCopy)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(played[0].Findings).To(ConsistOf(isCopiedLate()))
}

func TestWhatALongResyncHealsIsLateAndNotLost(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var period pace
	explorer := newImpatientExplorer(t, resyncing(&period), creation)
	period.set(explorer, creation.Name, 3)
	played, err := explorer.Replay(t.Context(), refusedCopy)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found(t, played, refusedCopy.String())).To(Equal([]verdict.Oracle{verdict.Converges, verdict.Reference}))
	g.Expect(explorer.Confirm(t.Context(), played)).To(Succeed())
	g.Expect(played[0].Findings).To(ConsistOf(isCopiedLate()))
	g.Expect(played[0].Confirmation).To(HaveValue(Equal(verdict.Confirmation{Played: 3, Failed: 3, PlayedWithoutFault: 2})))
}

func TestALostStateIsWaitedForAsLongAsAResyncTakes(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var period pace
	explorer := newImpatientExplorer(t, operator(copier{copy: func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		_ = c.apply(ctx, of, of.Name+"-copy")
		return reconcile.Result{RequeueAfter: period.get()}, nil
	}}), creation)
	period.set(explorer, creation.Name, 6.5) // longer than the default timeout of a step in a confirmation run
	explorer.startLastingRun(creation, explorer.reference(creation.Name))
	played, err := explorer.Replay(t.Context(), refusedCopy)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found(t, played, refusedCopy.String())).To(Equal([]verdict.Oracle{verdict.Converges, verdict.Reference}))
	g.Eventually(explorer.resync).WithTimeout(long+period.get()).Should(BeNumerically(">", period.get()*2/3), "it is seen from when the run has converged")
	g.Expect(explorer.Confirm(t.Context(), played)).To(Succeed())
	g.Expect(played[0].Findings).To(ConsistOf(isCopiedLate()))
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
	explorer.Options.StepTimeout = short / 2
	played, err := explorer.Replay(t.Context(), refusedCopy)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(played[0].Findings).To(BeEmpty())
}

// The operator is slow at the first of two changes, but not in the reference run.
func TestAStepThatIsSlowBeforeTheFaultIsNotItsDoing(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var slow pace
	explorer := newImpatientExplorer(t, operator(copier{blind: true, copy: func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		if age := time.Since(of.CreationTimestamp.Time); age < slow.get() {
			return reconcile.Result{RequeueAfter: slow.get() - age}, nil
		}
		return c.correctly(ctx, of)
	}}), change)
	slow.set(explorer, change.Name, 1.9)                                // an object's age is in whole seconds
	for nth, isLate := range map[int]bool{1: true, 2: false, 9: true} { // the ninth request is never sent
		plan := Plan{Scenario: change.Name, Fault: fault.Fault{Type: fault.LostResponse, At: firstApply}}
		plan.Fault.At.Nth = nth
		played, err := explorer.Replay(t.Context(), plan)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found(t, played, plan.String())).To(BeEmpty(), plan.String())
		g.Expect(slices.ContainsFunc(played[0].Findings, func(f verdict.Finding) bool { return strings.HasPrefix(f.Message, "IsCopied(A) took ") })).To(Equal(isLate), plan.String())
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
	explorer.Options.StepTimeout = short / 2
	played, err := explorer.Replay(t.Context(), refusedCopy)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(played[0].Findings).To(BeEmpty())
}

func TestAPlanThatIsRightByNowIsNotLate(t *testing.T) {
	g := NewWithT(t)
	healed := trial{cause: []int{0, 1}, verdict: verdict.Trial{Example: with(verdict.Reference).Findings}}
	healed.add(with(verdict.Reference))
	healed.add(with(verdict.Late))
	all := []Result{with(verdict.Reference), {}}
	healed.note(all)
	g.Expect(all[0].Findings).To(Equal(with(verdict.Late).Findings))
	g.Expect(all[1].Passed()).To(BeTrue())
}
