package explore

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/fault"
)

func TestSweepDeletesResyncedObjects(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	guarding := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		budget := &policyv1.PodDisruptionBudget{}
		budget.Name, budget.Namespace = "left-behind", of.Namespace
		return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, budget))
	}
	explorer := newExplorer(t, operator(copier{copy: guarding, blind: true}), story("copier/guard", write("A"), converged))
	results := explore(t, explorer, fault.Crashes)
	g.Expect(results).NotTo(BeEmpty())
	g.Expect(Report(results, nil).FailureText()).To(BeEmpty())
	explorer.Close()
	var budgets policyv1.PodDisruptionBudgetList
	g.Expect(plane.Client.List(t.Context(), &budgets)).To(Succeed())
	g.Expect(budgets.Items).To(BeEmpty())
}
