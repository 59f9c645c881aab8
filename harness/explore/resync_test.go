package explore

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/verdict"
)

// pace is how long an operator delays its work. It is set once the explorer knows how long a step should take, which is
// longer on a slow machine.
type pace struct{ atomic.Int64 }

func (p *pace) get() time.Duration { return time.Duration(p.Load()) }

func (p *pace) set(explorer *Explorer, scenario string, times float64) {
	p.Store(int64(times * float64(explorer.Options.timely(explorer.learner.reference(scenario)))))
}

// resyncing returns an operator that ignores errors and recovers at its next resync.
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

func TestConfirmationWaitsForResync(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var period pace
	explorer := newImpatientExplorer(t, resyncing(&period), creation)
	period.set(explorer, creation.Name, 1.5)
	played, err := explorer.Replay(t.Context(), refusedCopy)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(played[0].Findings).To(ConsistOf(isCopiedLate()))
}

func TestResyncExtendsConfirmation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		const period, converged = time.Minute, 10 * time.Second
		r, send := newIdleRun(t)
		c := &confirmer{resyncs: &resyncs{runs: []convergedRun{{r.waiter, time.Now().Add(converged)}}}}
		g.Expect(c.conditions().limit(defaultStepTimeout)).To(Equal(confirmingFactor * defaultStepTimeout))
		for range 3 {
			time.Sleep(period)
			g.Expect(send(http.MethodDelete, "secrets/web-copy")).To(Succeed())
		}
		g.Expect(c.resyncs.period()).To(Equal(period))
		g.Expect(c.conditions().limit(time.Second)).To(Equal(3 * period / 2))
	})
}

func TestConvergedRunShowsResyncPeriod(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var period pace
	explorer := newImpatientExplorer(t, operator(copier{copy: func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{RequeueAfter: period.get()}, c.apply(ctx, of, of.Name+"-copy")
	}}), creation)
	period.Store(int64(4 * settleWindow)) // the run converges in between
	explorer.resyncs.start(creation, explorer.learner.reference(creation.Name))
	g.Eventually(explorer.resyncs.period).WithTimeout(long).Should(BeNumerically(">=", 3*settleWindow))
}
