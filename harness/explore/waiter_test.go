package explore

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

// converged waits for convergence without any further assertion.
var converged = scenario.Step{Name: "Converged", Run: func(ctx context.Context, env *scenario.Env) error { return env.Converge(ctx) }}

func TestAScenarioWithoutAssertionsIsComparedWhereItWaits(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	unasserted := story("copier/unasserted", write("A"), converged, write("B"), converged)
	correct := newExplorer(t, operator(copier{copy: (*copier).correctly}), unasserted)
	results, err := correct.Replay(t.Context(), Plan{Scenario: unasserted.Name, Fault: crashAfterCopy.Fault}, Plan{Scenario: unasserted.Name, Fault: watchFault(fault.TimeTravel, "configmaps", 2)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(FailureReport(results, Plan.String)).To(BeEmpty())

	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).swallowing}), unasserted)
	plan := Plan{Scenario: unasserted.Name, Fault: fault.Fault{Type: fault.Error500, At: firstApply}}
	results, err = explorer.Replay(t.Context(), plan)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found(t, results, plan.String())).To(Equal([]verdict.Oracle{verdict.Reference}))
	g.Expect(results[0].Findings).To(ContainElement(HaveField("Message", And(
		HavePrefix("the state at the scenario's convergence 1 differs from the reference, and later steps were not run:\n"),
		ContainSubstring("Secret/web-copy is missing")))))
}

func TestObserveTellsTheChildren(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).thenRecording}))
	observed, err := explorer.Observe(t.Context(), story("copier/create", write("A"), converged))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(observed.Children).To(Equal([]Child{{corev1.SchemeGroupVersion.WithKind("Secret"), "web-copy-*"}}))
	g.Expect(observed.States).To(HaveLen(1))
	g.Expect(observed.States[0]).To(HaveKey("Secret/web-copy-*"))
}

func TestAChildWhoseNameEndsWithAHashIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	hashing := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		copied := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "web-6b7f9c8d5", Namespace: of.Namespace, Labels: map[string]string{"pod-template-hash": "6b7f9c8d5"}}, Data: copyOf(of)}
		return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, copied))
	}
	observed, err := newExplorer(t, operator(copier{copy: hashing})).Observe(t.Context(), story("copier/create", write("A"), converged))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(observed.Children).To(Equal([]Child{{corev1.SchemeGroupVersion.WithKind("Secret"), "web-*"}}))
}

func TestCheckReportsEveryBrokenScenario(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}), creation,
		story("copier/other", write("A"), isCopied("C")), story("copier/another", write("A"), isCopied("D")))
	explorer.Options.StepTimeout = brief
	g.Expect(explorer.Check(t.Context())).To(MatchError(And(
		HavePrefix("2 of 3 scenarios fail without any fault:\n"), ContainSubstring("copier/other fails"), ContainSubstring("copier/another fails"))))
	explorer.Options.Scenarios = explorer.Options.Scenarios[:1]
	g.Expect(explorer.Check(t.Context())).To(Succeed())
}

// exposing requests the same node port in every run, so that only one run at a time can have it.
func (c *copier) exposing(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	service := &corev1.Service{}
	service.Name, service.Namespace = of.Name, of.Namespace
	service.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: 30123}}}
	return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, service))
}

func TestAFixedNodePortHasRunsPlayedOneAtATime(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).exposing, blind: true}),
		story("copier/expose", write("A"), converged), story("copier/expose-again", write("A"), converged))
	results := explore(t, explorer, fault.Latency)
	g.Expect(FailureReport(results, Plan.String)).To(BeEmpty())
	g.Expect(results).NotTo(BeEmpty())
}

func TestRunConvergesAfterWindowsLongerThanTheTimeout(t *testing.T) {
	for name, slow := range map[string]func(w *waiter, send func(method, path string) error){
		"slow requests without a reference": func(_ *waiter, send func(method, path string) error) {
			for range 2 {
				_ = send(http.MethodPatch, "secrets/slow")
			}
		},
		"a long pause in the reference": func(w *waiter, _ func(method, path string) error) {
			w.learningWindow, w.pause = 0, idleTimeout
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, send := newIdleRun(t)
				r.waiter.limit = long
				go slow(r.waiter, send)
				synctest.Wait()
				unstable, difference := r.waiter.waitConverged(t.Context(), func(oracle.Snapshot) error { return nil })
				NewWithT(t).Expect(errors.Join(unstable, difference)).To(Succeed())
			})
		})
	}
}
