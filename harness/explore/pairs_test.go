package explore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/report/results"
	"github.com/operator-assay/assay/harness/verdict"
)

func TestPairsAreChosenByTheSeedAndSpreadOverTheScenarios(t *testing.T) {
	g := NewWithT(t)
	chosen := func(seed uint64, number int) []pairing { return learnt(seed, "a", "b").pairings(number) }
	g.Expect(chosen(1, 10)).To(Equal(chosen(1, 10)))
	g.Expect(chosen(1, 10)).To(Equal(chosen(1, 100)[:10]), "a larger number adds some")
	g.Expect(chosen(1, 10)).NotTo(Equal(chosen(2, 10)))
	g.Expect(chosen(1, 0)).To(BeEmpty())
	ofA := 0
	for _, p := range chosen(1, 10) {
		if p.Scenario == "a" {
			ofA++
		}
	}
	g.Expect(ofA).To(Equal(5))

	all := chosen(1, 1000)
	g.Expect(all).To(HaveLen(2*(20+20+20+2)), "two kinds after each crash, one after each lost response, one after each stale view")
	seen := map[pairing]bool{}
	for _, p := range all {
		seen[p] = true
	}
	g.Expect(seen).To(HaveLen(len(all)), "none twice")
}

func TestTheSecondFaultOfAPairIsCloseToTheFirst(t *testing.T) {
	status := fault.RequestKey{Verb: "update", Target: "secrets/status", Name: "web", Nth: 1}
	other := fault.RequestKey{Verb: "patch", Target: "services", Name: "web", Nth: 2}
	for name, test := range map[string]struct {
		first     string
		then      fault.Type
		aftermath []fault.RequestKey
		want      string
	}{
		"a write that followed":         {"crash-after apply secrets web 1", fault.CrashAfter, []fault.RequestKey{other}, "crash-after patch services web 2"},
		"nothing followed":              {"crash-after apply secrets web 1", fault.CrashAfter, nil, ""},
		"the watch of what was written": {"lost-response update secrets/status web 1", fault.Stale, nil, "stale watch secrets - 1"},
		"nobody watches that":           {"lost-response update services web 1", fault.Stale, nil, ""},
		"a write of what is not seen":   {"stale watch secrets - 1", fault.LostResponse, []fault.RequestKey{other, status}, "lost-response update secrets/status web 1"},
		"no write of what is not seen":  {"stale watch secrets - 1", fault.LostResponse, []fault.RequestKey{other}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			e := learnt(1, "a")
			plan, err := parse("a "+test.first, e.Options.Scenarios)
			g.Expect(err).NotTo(HaveOccurred())
			found := e.complete(&plan, test.then, test.aftermath)
			g.Expect(found).To(Equal(test.want != ""))
			if found {
				g.Expect(plan.String()).To(Equal("a " + test.first + ", then " + test.want))
			}
		})
	}
}

func TestAPairIsReadAsItWasWritten(t *testing.T) {
	g := NewWithT(t)
	e := learnt(1, "a")
	const text = "a crash-after apply services then 1, then stale watch secrets - 1"
	plans, err := Parse(text+"; a slow-reads", e.Options.Scenarios)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plans).To(HaveLen(2))
	g.Expect(plans[0].String()).To(Equal(text))
	g.Expect(plans[0].Then).To(Equal(watchFault(fault.Stale, "secrets", 1)))
	for text, complaint := range map[string]string{
		"a slow-reads, then explode":                                 `: unknown fault "explode"`,
		"a slow-reads, then ":                                        `: unknown fault "slow-reads, then"`,
		"a stale watch secrets - 1, then stale watch secrets - 1":    `: both faults are of watches: pair one with a fault at a request`,
		"a slow-reads, then time-travel watch secrets - 1":           `: a time travel is played alone: drop the other fault`,
		"a time-travel watch secrets - 1, then slow-reads":           `: a time travel is played alone: drop the other fault`,
		"a slow-reads, then slow-writes, then crash-after apply s 1": `: unknown fault "slow-writes, then crash-after apply s 1"`,
	} {
		_, err := Parse(text, e.Options.Scenarios)
		g.Expect(err).To(MatchError(ContainSubstring(complaint)), text)
		g.Expect(err.Error()).NotTo(ContainSubstring("\n"))
	}
}

func TestWhatTheFirstFaultOfAPairDoesAloneIsNeitherWithNorWithoutIt(t *testing.T) {
	g := NewWithT(t)
	failed := Result{Triggered: true, Findings: []verdict.Finding{{Oracle: verdict.Reference}}, triggers: make([]fault.Trigger, 2)}
	trial := &trial{verdict: verdict.Trial{Example: failed.Findings}}
	trial.add(failed)
	half := failed
	half.Triggered, half.triggers, half.difference = false, half.triggers[:1], &difference{}
	trial.add(half)
	g.Expect(trial.verdict.Confirmation).To(Equal(verdict.Confirmation{Played: 1, Failed: 1}))
	g.Expect(trial.withoutFault).To(BeEmpty(), "or what a fault does would be taken for random")
}

// pairsOf plays pairs that extend the given plans, and returns all results.
func pairsOf(t *testing.T, explorer *Explorer, played []Result) []Result {
	t.Helper()
	all, err := explorer.ExplorePairs(t.Context(), played, 100)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + Table(all))
	return all
}

func failedPlans(all []Result) []string {
	var plans []string
	for _, r := range all {
		if !r.Passed() {
			plans = append(plans, r.Plan.String())
		}
	}
	return plans
}

func TestAPairFindsWhatNoSingleFaultDoes(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).journaling, blind: true}), creation)
	played := explore(t, explorer, fault.Crashes, fault.LeaderChanges, fault.Errors, fault.Staleness, fault.TimeTravels, fault.Latency)
	g.Expect(failedPlans(played)).To(BeEmpty())
	explorer.Options.StepTimeout = brief // a burst of errors takes longer
	explorer.Options.Seed = 5            // selects both pairs that lose the copy
	all := pairsOf(t, explorer, played)
	g.Expect(all[:len(played)]).To(Equal(played))
	g.Expect(failedPlans(all)).To(ConsistOf(
		"copier/create crash-after patch configmaps web 1, then crash-after patch configmaps web 1",
		"copier/create crash-after patch configmaps web 1, then error-burst-503 apply secrets web-copy 1",
	))
	g.Expect(explorer.Confirm(t.Context(), all)).To(Succeed())
	i := slices.IndexFunc(all, func(r Result) bool { return r.Confirmation != nil }) // the more informative example of the two
	g.Expect(i).NotTo(Equal(-1))
	g.Expect(all[i].NeedsBoth).To(BeTrue())
	g.Expect(all[i].Confirmation).To(HaveValue(Equal(verdict.Confirmation{Played: 3, Failed: 3, PlayedWithoutFault: 2})))
	g.Expect(FailureReport(all, Plan.String)).To(And(
		ContainSubstring("crash-after, then crash-after"),
		ContainSubstring("  faults           both are required")))
	g.Expect(all[i].Run.Second).To(HaveValue(BeNumerically(">", *all[i].Run.Triggered)))
}

func TestAPairThatNeedsOneFaultIsToldAsThat(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).swallowingTwice, blind: true}), creation)
	played := explore(t, explorer, fault.Crashes)
	g.Expect(failedPlans(played)).To(BeEmpty())
	all := pairsOf(t, explorer, played)
	const single = "copier/create error-burst-503 apply secrets web-copy 1"
	g.Expect(failedPlans(all)).To(Equal([]string{single}))

	known := slices.DeleteFunc(slices.Clone(all), func(r Result) bool { return r.isPair() })
	g.Expect(failedPlans(pairsOf(t, explorer, known))).To(Equal([]string{single}), "it is told once")

	explorer.Options.Shard = results.Shard{Index: 1, Of: 2}
	if explorer.Options.Shard.Has(single) {
		explorer.Options.Shard.Index = 2
	}
	for !slices.Contains(plansOf(explorer, fault.Errors), single) {
		explorer.Options.Seed++ // until the selection contains a pair that extends this plan
	}
	g.Expect(failedPlans(pairsOf(t, explorer, played))).To(BeEmpty(), "another shard tells it")
}

// TestShardsSharePairsOut compares only the first faults. The second fault depends on what the operator wrote in that
// run, and therefore on timing.
func TestShardsSharePairsOut(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).journaling, blind: true}), creation)
	played := explore(t, explorer, fault.Crashes)
	pairsIn := func(shard results.Shard) []string {
		explorer.Options.Shard = shard
		ofShard := slices.DeleteFunc(slices.Clone(played), func(r Result) bool { return !shard.Has(r.Plan.String()) })
		var texts []string
		for _, r := range pairsOf(t, explorer, ofShard) {
			if r.isPair() {
				texts = append(texts, fmt.Sprintf("%s %s, then %s", r.Scenario, r.Fault, r.Then.Type))
			}
		}
		slices.Sort(texts)
		return texts
	}
	whole := pairsIn(results.Shard{})
	g.Expect(len(whole)).To(BeNumerically(">", 2), strings.Join(whole, "\n"))
	both := slices.Concat(pairsIn(results.Shard{Index: 1, Of: 2}), pairsIn(results.Shard{Index: 2, Of: 2}))
	slices.Sort(both)
	g.Expect(both).To(Equal(whole))
}

func TestAnInvariantMustHoldIfItMustUnderBothFaults(t *testing.T) {
	g := NewWithT(t)
	demanding := map[fault.Category]bool{fault.Crashes: true, fault.Errors: true}
	e := &Explorer{Options: Options{Invariants: func(category fault.Category, _ []record.ObjectVersion) error {
		if demanding[category] {
			return errors.New("broken")
		}
		return nil
	}}}
	broken := func(first, then fault.Type) bool {
		return e.invariants(Plan{Fault: fault.Fault{Type: first}, Then: fault.Fault{Type: then}}, outcome{}) != nil
	}
	g.Expect(broken(fault.CrashAfter, fault.None)).To(BeTrue())
	g.Expect(broken(fault.CrashAfter, fault.ErrorBurst503)).To(BeTrue())
	g.Expect(broken(fault.LostResponse, fault.Stale)).To(BeFalse())
	g.Expect(broken(fault.Stale, fault.LostResponse)).To(BeFalse())
}
