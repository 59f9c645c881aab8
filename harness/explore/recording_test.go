package explore

import (
	"context"
	"net/http"
	"slices"
	"strings"
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
	slow.set(explorer, change.Name, 1.9) // creation timestamps have a resolution of one second
	plan := func(nth int) Plan {
		at := firstApply
		at.Nth = nth
		return Plan{Scenario: change.Name, Fault: fault.Fault{Type: fault.LostResponse, At: at}}
	}
	played, err := explorer.Replay(t.Context(), plan(1), plan(2), plan(9)) // the operator never sends a ninth request
	g.Expect(err).NotTo(HaveOccurred())
	for i, isLate := range []bool{true, false, true} {
		g.Expect(found(t, played, played[i].Plan.String())).To(BeEmpty(), played[i].Plan.String())
		g.Expect(slices.ContainsFunc(played[i].Findings, func(f verdict.Finding) bool { return strings.HasPrefix(f.Message, "IsCopied(A) took ") })).To(Equal(isLate), played[i].Plan.String())
	}
}
