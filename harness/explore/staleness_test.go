package explore

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/verdict"
)

func TestDecisionOnStaleCacheIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).trusting}), creation)
	results := explore(t, explorer, fault.Staleness)
	for plan, oracles := range map[string][]verdict.Oracle{
		"stale watch configmaps - 1":         nil,
		"stale watch secrets - 1":            nil,
		"stale-restart watch configmaps - 1": nil,
		"stale-restart watch secrets - 1":    {verdict.Reference, verdict.Counts},
		"missed-events watch configmaps - 1": nil,
		"missed-events watch secrets - 1":    nil,
	} {
		g.Expect(found(t, results, "copier/create "+plan)).To(Equal(oracles), plan)
	}
	g.Expect(results).To(HaveLen(6))
}

// A paused watch usually resumes when the operator is idle. The operator in this test sends requests until its cache is
// up to date, so the watch must resume after idleTimeout instead.
func TestStaleViewEndsIfOperatorIsBusy(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).insisting}), creation)
	plans, err := Parse("copier/create stale watch secrets - 1", explorer.Options.Scenarios)
	g.Expect(err).NotTo(HaveOccurred())
	results := replay(t, explorer, plans...)
	g.Expect(results[0].Findings).To(BeEmpty())
	g.Expect(results[0].Seconds).To(BeNumerically("<", long.Seconds()/2), "the run must end before its timeout")
}

// The operator in this test reverts its changes when it sees an older state. Time travel reveals this bug. The
// staleness faults do not, because they pause the watch before the operator makes the changes.
func TestActionOnOldStateIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).renaming}), change)
	results := explore(t, explorer, fault.Staleness, fault.TimeTravels)
	for plan, oracles := range map[string][]verdict.Oracle{
		"time-travel watch configmaps - 1": nil,
		"time-travel watch configmaps - 2": {verdict.Counts},
		"time-travel watch * - 2":          {verdict.Counts},
	} {
		g.Expect(found(t, results, "copier/change "+plan)).To(Equal(oracles), plan)
	}
	for _, r := range results {
		if r.Fault.Category() == fault.Staleness {
			g.Expect(found(t, results, r.String())).To(BeEmpty(), Report([]Result{r}, nil).FailureText())
		}
	}
}

// The fault in this test begins with the first action, but it restarts the operator only after the second one. It must
// not block the wait for convergence between them.
func TestTimeTravelSpansTwoActions(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).renaming}), story("copier/twice", write("A"), converged, write("B"), converged))
	plan := Plan{Scenario: "copier/twice", Fault: watchFault(fault.TimeTravelFar, fault.AllTargets, 1)}
	results := replay(t, explorer, plan)
	g.Expect(results[0].Triggered).To(BeTrue())
}

// The operator in this test deletes the copy by name, even if the copy belongs to a newer ConfigMap.
func TestRepeatedDeletionIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).cleaningUp}), story("copier/recreate", write("A"), converged, deleteOriginal, converged, write("A"), converged))
	results := replay(t, explorer,
		Plan{Scenario: "copier/recreate", Fault: watchFault(fault.TimeTravelDeleting, "configmaps", 2)},
		Plan{Scenario: "copier/recreate", Fault: watchFault(fault.TimeTravel, "configmaps", 3)})
	g.Expect(found(t, results, "copier/recreate time-travel-deleting watch configmaps - 2")).To(Equal([]verdict.Oracle{verdict.Counts}))
	g.Expect(found(t, results, "copier/recreate time-travel watch configmaps - 3")).To(BeEmpty())
}

func TestTimeTravelStartsAfterOperatorActed(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	hesitating := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		var copied corev1.Secret
		err := c.Get(ctx, client.ObjectKey{Namespace: of.Namespace, Name: of.Name + "-copy"}, &copied)
		if err == nil && string(copied.Data["value"]) == of.Data["value"] {
			return reconcile.Result{}, nil
		}
		if of.Data["value"] == "B" && !c.made[of.ResourceVersion] {
			c.made[of.ResourceVersion] = true
			return reconcile.Result{RequeueAfter: settleWindow + idleWindow/5}, nil // shorter than the last idle window of a fault-free run
		}
		return c.correctly(ctx, of)
	}
	explorer := newExplorer(t, operator(copier{copy: hesitating}), story("copier/unasserted", write("A"), converged, write("B"), converged))
	played := replay(t, explorer, Plan{Scenario: "copier/unasserted", Fault: watchFault(fault.TimeTravel, "configmaps", 2)})
	copies := 0
	for _, request := range played[0].Run.Requests {
		if request.Verb == "apply" {
			copies++
		}
	}
	g.Expect(copies).To(BeNumerically(">=", 4), "A, B, A from the old view, and B again")
}
