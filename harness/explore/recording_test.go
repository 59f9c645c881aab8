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
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/verdict"
)

func TestSlowReferenceStepRaisesTimeout(t *testing.T) {
	const slow = 30 * time.Second
	for name, step := range map[string]func(r *run, send func(method, path string) error) error{
		"step": func(r *run, _ func(string, string) error) error {
			start := time.Now()
			time.Sleep(slow)
			r.recording.timing.note("IsCopied(A)", start, r.recording.injector)
			return nil
		},
		"start of the operator": func(r *run, send func(string, string) error) error {
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
				g.Expect(r.recording.timing.slowest()).To(BeNumerically(">=", slow))
				options := &Options{StepTimeout: slow}
				g.Expect(options.timely(&reference{slowest: r.recording.timing.slowest()})).To(Equal(slowFactor * r.recording.timing.slowest()))
				g.Expect(options.timely(&reference{slowest: time.Second})).To(Equal(slow))
			})
		})
	}
}

// The operator in this test handles the first of two changes slowly, except in the reference run.
func TestSlowStepBeforeFaultIsNotLate(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var slow pace
	explorer := newImpatientExplorer(t, operator(copier{blind: true, copy: func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		if age := time.Since(of.CreationTimestamp.Time); age < slow.get() {
			return reconcile.Result{RequeueAfter: slow.get() - age}, nil
		}
		return c.correctly(ctx, of)
	}}), change)
	slow.set(explorer, change.Name, 1.6) // creation timestamps have a resolution of one second
	plan := func(nth int) Plan {
		at := firstApply
		at.Nth = nth
		return Plan{Scenario: change.Name, Fault: fault.Fault{Type: fault.LostResponse, At: at}}
	}
	played := replay(t, explorer, plan(1), plan(2), plan(9)) // the operator never sends a ninth request
	for i, isLate := range []bool{true, false, true} {
		g.Expect(found(t, played, played[i].String())).To(BeEmpty(), played[i].String())
		g.Expect(slices.ContainsFunc(played[i].Findings, func(f verdict.Finding) bool { return strings.HasPrefix(f.Message, "IsCopied(A) took ") })).To(Equal(isLate), played[i].String())
	}
}

// pace is how long an operator delays its work. It is a multiple of the expected duration of a step, which is longer on
// a slow machine.
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

var refusedCopy = Plan{Scenario: creation.Name, Fault: fault.Fault{Type: fault.Error500, At: firstApply}}

func TestRecoveryAtResyncIsLate(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var period pace
	explorer := newImpatientExplorer(t, resyncing(&period), creation)
	period.set(explorer, creation.Name, 1.5)
	played := replay(t, explorer, refusedCopy)
	g.Expect(played[0].Findings).To(ConsistOf(And(
		HaveField("Oracle", verdict.Late), HaveField("Message", MatchRegexp(`^IsCopied\(A\) took \S+, more than \S+$`)))))
}
