package explore

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/verdict"
)

func TestRunConvergesAfterLongWindow(t *testing.T) {
	for name, slow := range map[string]func(r *run, send func(method, path string) error){
		"slow requests without a reference": func(_ *run, send func(method, path string) error) {
			for range 2 {
				_ = send(http.MethodPatch, "secrets/slow")
			}
		},
		"long pause in the reference": func(r *run, _ func(method, path string) error) {
			r.attempt = attempt{against: &reference{states: []*verdict.Expected{{}}, pause: idleTimeout}, conditions: usual}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, send := newIdleRun(t)
				go slow(r, send)
				synctest.Wait()
				unstable, difference := r.waitConverged(t.Context(), func(oracle.Snapshot) error { return nil })
				NewWithT(t).Expect(errors.Join(unstable, difference)).To(Succeed())
			})
		})
	}
}

func TestAwaitedDifferenceAppearsOrNot(t *testing.T) {
	for name, after := range map[string]time.Duration{"appears": 10 * time.Second, "never appears": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				r, _ := newIdleRun(t)
				want := &verdict.Expected{State: oracle.Snapshot{}}
				copied := observed("v1", "Secret", 1, nil)
				r.attempt.conditions.awaited = &verdict.Deviation{Expected: want, State: oracle.NewSnapshot("run", []unstructured.Unstructured{copied})}
				if after > 0 {
					time.AfterFunc(after, func() { r.env.history.Record(record.ObjectVersion{Unstructured: &copied, Time: time.Now()}) })
				}
				began := time.Now()
				unstable, differs := r.converge(t.Context(), want, finalDiffers)
				g.Expect(unstable).NotTo(HaveOccurred())
				g.Expect(r.recording.outcome.awaitedFound).To(Equal(after > 0))
				if after > 0 {
					g.Expect(differs).To(MatchError(ContainSubstring("Secret/web")))
					g.Expect(time.Since(began)).To(BeNumerically("<", long))
				} else {
					g.Expect(differs).NotTo(HaveOccurred())
					g.Expect(time.Since(began)).To(BeNumerically(">=", long), "time until it gives up")
				}
			})
		})
	}
}
