package explore

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/verdict"
)

func TestConvergeStepComparesState(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	unasserted := story("copier/unasserted", write("A"), converged, write("B"), converged)
	correct := newExplorer(t, operator(copier{copy: (*copier).correctly}), unasserted)
	results := replay(t, correct, Plan{Scenario: unasserted.Name, Fault: crashAfterCopy.Fault}, Plan{Scenario: unasserted.Name, Fault: watchFault(fault.TimeTravel, "configmaps", 2)})
	g.Expect(Report(results, nil).FailureText()).To(BeEmpty())

	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).swallowing}), unasserted)
	plan := Plan{Scenario: unasserted.Name, Fault: fault.Fault{Type: fault.Error500, At: firstApply}}
	results = replay(t, explorer, plan)
	g.Expect(found(t, results, plan.String())).To(Equal([]verdict.Oracle{verdict.Reference}))
	g.Expect(results[0].Findings).To(ContainElement(HaveField("Message", And(
		HavePrefix("the state at convergence check 1 differs from the reference; the remaining steps were skipped:\n"),
		ContainSubstring("Secret/web-copy is missing")))))
}
