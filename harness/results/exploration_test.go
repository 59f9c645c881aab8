package results_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/results"
)

func TestPairNamesBothFaults(t *testing.T) {
	g := NewWithT(t)
	single := failed("web/create", "reference", "web", nil)
	g.Expect(single.String()).To(Equal("web/create crash-after create secrets web 1"))
	g.Expect(single.Types()).To(Equal("crash-after"))
	pair := single
	pair.Then, pair.NeedsBoth = "stale watch secrets - 1", true
	pair.Run = &results.Run{Triggered: new(1.0), Second: new(2.0)}
	g.Expect(pair.String()).To(Equal("web/create crash-after create secrets web 1, then stale watch secrets - 1"))
	g.Expect(pair.Types()).To(Equal("crash-after, then stale"))

	causes := results.Exploration{Plans: []results.Plan{pair, single}}.Causes()
	g.Expect(causes).To(HaveLen(1))
	g.Expect(causes[0].Plans).To(Equal([]int{1, 0}), "the plan with a single fault comes first")

	exploration := results.Exploration{Plans: []results.Plan{pair}}
	g.Expect(exploration.FailureText()).To(And(
		ContainSubstring("  1 plan           crash-after, then stale at create secrets web\n"),
		ContainSubstring("  faults           both are required")))
}
