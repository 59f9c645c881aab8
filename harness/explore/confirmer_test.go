package explore

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/terminal"
	"github.com/operator-assay/assay/harness/verdict"
)

// churning returns an operator that creates and deletes a Secret named probe when it first starts in a run, and again
// after every restart for which churns returns true. If the Secret is created again, the plan fails the Counts oracle.
// A run does not end before a restarted operator has created the Secret, because the ConfigMap is annotated last.
func churning(churns func(c *copier, ctx context.Context, of *corev1.ConfigMap) bool) Operator {
	var started sync.Map // the namespaces in which an instance has run
	return operator(copier{copy: func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		if !c.made[of.Name] {
			c.made[of.Name] = true
			if _, again := started.LoadOrStore(of.Namespace, true); !again || churns(c, ctx, of) {
				probe := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: of.Namespace}}
				if err := errors.Join(c.Create(ctx, probe), c.Delete(ctx, probe)); err != nil {
					return reconcile.Result{}, err
				}
			}
		}
		if err := c.apply(ctx, of, of.Name+"-copy"); err != nil || of.Annotations["copy"] != "" {
			return reconcile.Result{}, err
		}
		return reconcile.Result{}, c.note(ctx, of, "done")
	}})
}

// The crash-after plan always fails, because the restarted operator finds the copy and creates the probe again. The
// crash-before plan fails only in its first run.
func TestNextPlanOfCauseRunsIfFirstPasses(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var churned atomic.Bool
	explorer := newExplorer(t, churning(func(c *copier, ctx context.Context, of *corev1.ConfigMap) bool {
		err := c.Get(ctx, client.ObjectKey{Namespace: of.Namespace, Name: of.Name + "-copy"}, &corev1.Secret{})
		return err == nil || !churned.Swap(true)
	}), creation)
	failing := replay(t, explorer, Plan{Scenario: creation.Name, Fault: fault.Fault{Type: fault.CrashBefore, At: firstApply}}, crashAfterCopy)
	failing[1].Run = nil // makes the other result the better example
	var progress strings.Builder
	explorer.console = terminal.NewLog("", &progress)
	g.Expect(explorer.Confirm(t.Context(), failing)).To(Succeed())
	g.Expect(progress.String()).To(HavePrefix("confirm    rerunning failed plans (1), each 2 times with and 2 times without the fault; waiting up to 6m0s for the expected state\n"))
	g.Expect(failing[0].Confirmation).To(HaveValue(Equal(verdict.Confirmation{Played: 3, Failed: 1, PlayedWithoutFault: 2})))
	g.Expect(failing[1].Confirmation).To(HaveValue(Equal(verdict.Confirmation{Played: 3, Failed: 3, PlayedWithoutFault: 2})))
}

// reordering returns an operator that lists the ports of its Service in reverse order if reversed returns true.
func reordering(reversed func(of *corev1.ConfigMap) bool) Operator {
	return operator(copier{blind: true, copy: func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		service := &corev1.Service{}
		service.Name, service.Namespace = of.Name, of.Namespace
		service.Spec.Ports = []corev1.ServicePort{{Name: "a", Port: 80}, {Name: "b", Port: 81}}
		if reversed(of) {
			slices.Reverse(service.Spec.Ports)
		}
		return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, service))
	}})
}

func TestRandomOrderAppliesToAllScenarios(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var learned atomic.Bool
	var mu sync.Mutex
	var runs []string // runs of the first scenario; every second one reverses the ports
	explorer := newExplorer(t, reordering(func(of *corev1.ConfigMap) bool {
		mu.Lock()
		defer mu.Unlock()
		if of.Data["value"] == "A" && !slices.Contains(runs, of.Namespace) {
			runs = append(runs, of.Namespace)
		}
		return learned.Load() || slices.Index(runs, of.Namespace)%2 == 1
	}), story("copier/a", write("A"), converged), story("copier/b", write("B"), converged))
	g.Expect(explorer.learner.learn(t.Context())).To(Succeed())
	learned.Store(true)
	failing := replay(t, explorer, Plan{Scenario: "copier/b", Fault: fault.Fault{Type: fault.SlowWrites}})
	g.Expect(failing[0].Findings).To(BeEmpty())
}

func TestRandomOrderInConfirmationIsIgnored(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var learned atomic.Bool
	explorer := newImpatientExplorer(t, reordering(func(*corev1.ConfigMap) bool { return learned.Load() }), story("copier/b", write("B"), converged))
	learned.Store(true)
	failing := replay(t, explorer, Plan{Scenario: "copier/b", Fault: fault.Fault{Type: fault.SlowWrites}})
	g.Expect(failing[0].Findings).NotTo(BeEmpty())
	var progress strings.Builder
	explorer.console = terminal.NewLog("", &progress)
	g.Expect(explorer.Confirm(t.Context(), failing)).To(Succeed())
	g.Expect(failing[0].Findings).NotTo(ContainElement(HaveField("Oracle", verdict.Reference)), "the plan is replayed")
	g.Expect(progress.String()).To(ContainSubstring("confirm: not compared, because it varies between fault-free runs: the order of Service/web spec.ports\n"))
}

// expiring returns an operator that deletes the copy once the ConfigMap reaches the given age. If the API server
// rejects the copy, the operator does not try again.
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

// The copy also expires without a fault, but the other fault-free runs end earlier. Only the rerun that waits for the
// difference to appear lasts long enough.
func TestLossThatAlsoAppearsLaterIsUnstable(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, expiring(8*time.Second), story("copier/unasserted", write("A"), converged))
	played := replay(t, explorer, Plan{Scenario: "copier/unasserted", Fault: fault.Fault{Type: fault.Error500, At: firstApply}})
	g.Expect(slices.ContainsFunc(played[0].Findings, verdict.Finding.IsLoss)).To(BeTrue())
	g.Expect(explorer.Confirm(t.Context(), played)).To(Succeed())
	g.Expect(played[0].Confirmation).To(HaveValue(Equal(verdict.Confirmation{Played: 3, Failed: 3, PlayedWithoutFault: 2, FailedWithoutFault: 1})))
}

// relisting is an operator that ignores write errors. Like JavaScript informers, it relists when its watch ends.
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

func TestStateHealedByRelistIsLate(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, relisting, story("copier/unasserted", write("A"), converged))
	explorer.confirmer.watchLife = 3 * explorer.Options.timely(explorer.learner.reference("copier/unasserted")) // longer than the timeout of a failed plan
	played := replay(t, explorer, Plan{Scenario: "copier/unasserted", Fault: fault.Fault{Type: fault.Error500, At: firstApply}})
	g.Expect(slices.ContainsFunc(played[0].Findings, verdict.Finding.IsLoss)).To(BeTrue())
	g.Expect(explorer.Confirm(t.Context(), played)).To(Succeed())
	g.Expect(played[0].Findings).To(ConsistOf(HaveField("Oracle", verdict.Late)))
}
