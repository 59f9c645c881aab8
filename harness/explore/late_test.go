package explore

import (
	"context"
	"net/http"
	"slices"
	"strings"
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

// pace is the delay of an operator. It is set after the explorer has learned the expected duration of a step, because
// that is longer on a slow machine.
type pace struct{ atomic.Int64 }

func (p *pace) get() time.Duration { return time.Duration(p.Load()) }

func (p *pace) set(explorer *Explorer, scenario string, times float64) {
	p.Store(int64(times * float64(explorer.Options.timely(explorer.learner.reference(scenario)))))
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

func TestResyncWithoutAFaultExtendsConfirmation(t *testing.T) {
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

func TestLastingRunShowsTheResyncPeriod(t *testing.T) {
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

func TestSlowStepWithoutAFaultRaisesTheTimeout(t *testing.T) {
	const slow = 30 * time.Second
	for name, step := range map[string]func(r *run, send func(method, path string) error) error{
		"a step": func(r *run, _ func(string, string) error) error {
			start := time.Now()
			time.Sleep(slow)
			r.recording.timing.note("IsCopied(A)", start, r.recording.injector)
			return nil
		},
		"the start of the operator": func(r *run, send func(string, string) error) error {
			go func() {
				for range 2 * slow / idleWindow {
					time.Sleep(idleWindow / 2)
					_ = send(http.MethodDelete, "secrets/web-copy")
				}
			}()
			return r.waitReady(context.Background())
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				r, send := newIdleRun(t)
				r.recording.timing.timely = long
				g.Expect(step(r, send)).To(Succeed())
				g.Expect(r.recording.timing.slowest).To(BeNumerically(">=", slow))
				options := &Options{StepTimeout: slow}
				g.Expect(options.timely(&reference{slowest: r.recording.timing.slowest})).To(Equal(slowFactor * r.recording.timing.slowest))
				g.Expect(options.timely(&reference{slowest: time.Second})).To(Equal(slow))
			})
		})
	}
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
