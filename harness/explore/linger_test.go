package explore

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/verdict"
)

// expiring deletes copies that have reached the given age, and does not retry a rejected create.
func expiring(after time.Duration) Operator {
	return operator(copier{copy: func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		if age := time.Since(of.CreationTimestamp.Time); age > after {
			copied := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: of.Name + "-copy", Namespace: of.Namespace}}
			return reconcile.Result{}, client.IgnoreNotFound(c.Delete(ctx, copied))
		}
		_ = c.apply(ctx, of, of.Name+"-copy")
		return reconcile.Result{RequeueAfter: after}, nil
	}})
}

// The copy expires in every run, but the run with the fault waits for it.
func TestLossThatAlsoAppearsLaterIsNotTheFaults(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, expiring(brief), story("copier/unasserted", write("A"), converged))
	played, err := explorer.Replay(t.Context(), Plan{Scenario: "copier/unasserted", Fault: fault.Fault{Type: fault.Error500, At: firstApply}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(played[0].has(verdict.Finding.IsLoss)).To(BeTrue())
	g.Expect(explorer.Confirm(t.Context(), played)).To(Succeed())
	g.Expect(played[0].Confirmation).To(HaveValue(Equal(verdict.Confirmation{Played: 3, Failed: 3, PlayedWithoutFault: 2, FailedWithoutFault: 1})))
}

func TestAwaitedDifferenceAppearsOrNot(t *testing.T) {
	for name, after := range map[string]time.Duration{"it appears": 10 * time.Second, "it never appears": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				r, _ := newIdleRun(t)
				want := &verdict.Expected{State: oracle.Snapshot{}}
				copied := observed("v1", "Secret", 1, nil)
				copied.SetNamespace("run")
				copied.SetName("web-copy")
				copied.SetUID("1")
				copied.SetResourceVersion("1")
				r.waiter.awaited = &verdict.Deviation{Expected: want, State: oracle.NewSnapshot("run", []unstructured.Unstructured{copied})}
				if after > 0 {
					time.AfterFunc(after, func() { r.waiter.history.Record(record.ObjectVersion{Unstructured: &copied, Time: time.Now()}) })
				}
				began := time.Now()
				unstable, differs := r.waiter.converge(t.Context(), want, finalDiffers)
				g.Expect(unstable).NotTo(HaveOccurred())
				g.Expect(r.waiter.awaitedFound).To(Equal(after > 0))
				if after > 0 {
					g.Expect(differs).To(MatchError(ContainSubstring("Secret/web-copy")))
					g.Expect(time.Since(began)).To(BeNumerically("<", long))
				} else {
					g.Expect(differs).NotTo(HaveOccurred())
					g.Expect(time.Since(began)).To(BeNumerically(">=", long), "it waits for the limit")
				}
			})
		})
	}
}

// relisting ignores errors and reapplies all copies when its watch ends, as informers for JavaScript do.
func relisting(ctx context.Context, _ string, config *rest.Config, _ io.Writer) error {
	user, err := client.NewWithWatch(config, client.Options{})
	if err != nil {
		return err
	}
	c := &copier{Client: user}
	for ctx.Err() == nil {
		var all corev1.ConfigMapList
		if err := user.List(ctx, &all, client.MatchingLabels{"copy": "true"}); err != nil {
			return err
		}
		for _, of := range all.Items {
			_, _ = c.swallowing(ctx, &of)
		}
		events, err := user.Watch(ctx, &all, client.MatchingLabels{"copy": "true"}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: all.ResourceVersion}})
		if err != nil {
			return err
		}
		for event := range events.ResultChan() {
			if of, is := event.Object.(*corev1.ConfigMap); is && event.Type == watch.Added {
				_, _ = c.swallowing(ctx, of)
			}
		}
	}
	return ctx.Err()
}

func TestWhatTheEndOfAWatchHealsIsLateAndNotLost(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, relisting, story("copier/unasserted", write("A"), converged))
	explorer.confirmer.watchLife = 3 * explorer.Options.timely(explorer.learner.reference("copier/unasserted")) // longer than a failed plan waits
	played, err := explorer.Replay(t.Context(), Plan{Scenario: "copier/unasserted", Fault: fault.Fault{Type: fault.Error500, At: firstApply}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(played[0].has(verdict.Finding.IsLoss)).To(BeTrue())
	g.Expect(explorer.Confirm(t.Context(), played)).To(Succeed())
	g.Expect(played[0].Findings).To(ConsistOf(HaveField("Oracle", verdict.Late)))
}
