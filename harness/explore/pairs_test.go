package explore

import (
	"errors"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/verdict"
)

func TestPairsAreSpreadOverScenarios(t *testing.T) {
	g := NewWithT(t)
	chosen := func(seed uint64, number int) []Plan {
		return pairExplorer{learnedExplorer(seed, "a", "b")}.choose(number)
	}
	g.Expect(chosen(1, 10)).To(Equal(chosen(1, 10)))
	g.Expect(chosen(1, 10)).To(Equal(chosen(1, 100)[:10]), "a larger number only adds pairs")
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
	g.Expect(all).To(HaveLen(2*(20+20+20+2)), "every family contributes pairs")
	seen := map[Plan]bool{}
	for _, p := range all {
		seen[p] = true
	}
	g.Expect(seen).To(HaveLen(len(all)), "without duplicates")
}

func TestSecondFaultFollowsFirst(t *testing.T) {
	status := fault.RequestKey{Verb: "update", Target: "secrets/status", Name: "web", Nth: 1}
	other := fault.RequestKey{Verb: "patch", Target: "services", Name: "web", Nth: 2}
	for name, test := range map[string]struct {
		first       string
		then        fault.Type
		writesAfter []fault.RequestKey
		want        string
	}{
		"later write":                    {"crash-after apply secrets web 1", fault.CrashAfter, []fault.RequestKey{other}, "crash-after patch services web 2"},
		"no later write":                 {"crash-after apply secrets web 1", fault.CrashAfter, nil, ""},
		"watch of the written resource":  {"lost-response update secrets/status web 1", fault.Stale, nil, "stale watch secrets - 1"},
		"resource is not watched":        {"lost-response update services web 1", fault.Stale, nil, ""},
		"write to the stale resource":    {"stale watch secrets - 1", fault.LostResponse, []fault.RequestKey{other, status}, "lost-response update secrets/status web 1"},
		"no write to the stale resource": {"stale watch secrets - 1", fault.LostResponse, []fault.RequestKey{other}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			e := learnedExplorer(1, "a")
			plan, err := parse("a "+test.first, e.Options.Scenarios)
			g.Expect(err).NotTo(HaveOccurred())
			plan.Then.Type = test.then
			found := pairExplorer{e}.complete(&plan, test.writesAfter)
			g.Expect(found).To(Equal(test.want != ""))
			if found {
				g.Expect(plan.String()).To(Equal("a " + test.first + ", then " + test.want))
			}
		})
	}
}

func TestPairRoundTrips(t *testing.T) {
	g := NewWithT(t)
	e := learnedExplorer(1, "a")
	const text = "a crash-after apply services then 1, then stale watch secrets - 1"
	plans, err := Parse(text+"; a slow-reads", e.Options.Scenarios)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plans).To(HaveLen(2))
	g.Expect(plans[0].String()).To(Equal(text))
	g.Expect(plans[0].Then).To(Equal(watchFault(fault.Stale, "secrets", 1)))
	for text, complaint := range map[string]string{
		"a slow-reads, then explode":                                 `: unknown fault "explode"`,
		"a slow-reads, then ":                                        `: unknown fault "slow-reads, then"`,
		"a stale watch secrets - 1, then stale watch secrets - 1":    `: both faults affect watches: combine a watch fault with a request fault`,
		"a slow-reads, then time-travel watch secrets - 1":           `: a time travel cannot be combined with another fault: remove one of them`,
		"a time-travel watch secrets - 1, then slow-reads":           `: a time travel cannot be combined with another fault: remove one of them`,
		"a slow-reads, then slow-writes, then crash-after apply s 1": `: unknown fault "slow-writes, then crash-after apply s 1"`,
	} {
		_, err := Parse(text, e.Options.Scenarios)
		g.Expect(err).To(MatchError(ContainSubstring(complaint)), text)
		g.Expect(err.Error()).NotTo(ContainSubstring("\n"))
	}
}

func TestTrialIgnoresHalfTriggeredPair(t *testing.T) {
	g := NewWithT(t)
	failed := resultWith(verdict.Reference)
	failed.triggers = make([]fault.Trigger, 2)
	trial := &trial{verdict: verdict.Trial{Example: failed.Findings}}
	trial.add(failed)
	half := failed
	half.Triggered, half.triggers, half.difference = false, half.triggers[:1], &verdict.Deviation{}
	trial.add(half)
	g.Expect(trial.verdict.Confirmation).To(Equal(verdict.Confirmation{Played: 1, Failed: 1}))
	g.Expect(trial.withoutFault).To(BeEmpty(), "a fault must not reveal nondeterminism")
}

func failedPlans(all []Result) []string {
	var plans []string
	for _, r := range all {
		if !r.Passed() {
			plans = append(plans, r.String())
		}
	}
	return plans
}

func TestPairFindsBugThatNeedsTwoFaults(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).journaling, blind: true}), creation)
	crash := Plan{Scenario: creation.Name, Fault: fault.Fault{Type: fault.CrashAfter, At: fault.RequestKey{Verb: "patch", Target: "configmaps", Name: "web", Nth: 1}}}
	played := replay(t, explorer, crash)
	g.Expect(failedPlans(played)).To(BeEmpty())
	explorer.Options.StepTimeout = 2 * brief // a burst of errors takes longer
	explorer.Options.Seed = 5                // selects the two pairs that lose the copy
	all, err := explorer.ExplorePairs(t.Context(), played, 100)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all[:1]).To(Equal(played))
	g.Expect(failedPlans(all)).To(ConsistOf(
		"copier/create crash-after patch configmaps web 1, then crash-after patch configmaps web 1",
		"copier/create crash-after patch configmaps web 1, then error-burst-503 apply secrets web-copy 1",
	))
	for _, pair := range all[1:] {
		g.Expect(pair.NeedsBoth).To(BeTrue(), pair.String())
		g.Expect(pair.Run.Second).To(HaveValue(BeNumerically(">", *pair.Run.Triggered)), pair.String())
	}
	g.Expect(Report(all, nil).FailureText()).To(And(
		ContainSubstring("crash-after, then crash-after"),
		ContainSubstring("  faults           both are required")))
}

func TestPairThatNeedsOneFaultBecomesThatFault(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).swallowingTwice, blind: true}), creation)
	const single = "copier/create error-500 apply secrets web-copy 1"
	plans, err := Parse("copier/create crash-after apply secrets web-first 1, then error-500 apply secrets web-copy 1", explorer.Options.Scenarios)
	g.Expect(err).NotTo(HaveOccurred())
	played := replay(t, explorer, plans...)
	g.Expect(failedPlans(pairExplorer{explorer}.shrink(t.Context(), nil, played))).To(Equal([]string{single}))
}

func TestFailureOfOneFaultReplacesThePair(t *testing.T) {
	e := learnedExplorer(1, "a")
	const text = "a error-burst-503 apply secrets web 2"
	plans, err := Parse("a crash-after apply secrets web 1, then error-burst-503 apply secrets web 2; "+text, e.Options.Scenarios)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	pair, single := resultWith(verdict.Reference), resultWith(verdict.Reference)
	pair.Plan, pair.triggers = plans[0], []fault.Trigger{{Fault: plans[0].Fault}, {Fault: plans[0].Then}}
	single.Plan = plans[1]
	passed, otherwise, passedPair := single, single, pair
	passed.Findings, otherwise.Findings, passedPair.Findings = nil, resultWith(verdict.Counts).Findings, nil
	ofSingle, ofOther := results.Shard{Index: 1, Of: 2}, results.Shard{Index: 2, Of: 2}
	if !ofSingle.Has(text) {
		ofSingle, ofOther = ofOther, ofSingle
	}
	e.learner.references["a"].points.sent = map[fault.RequestKey]int{
		{Verb: "apply", Target: "secrets", Name: "web"}: 2,
	}
	for name, test := range map[string]struct {
		shard                   results.Shard
		all, ofPairs, ofSingles []Result
		plans                   []Plan
		failed                  int
		needsBoth               bool
	}{
		"single fault not yet played":    {ofSingle, nil, []Result{pair}, []Result{single}, plans[1:], 1, false},
		"single fault of another shard":  {ofOther, nil, []Result{pair}, []Result{single}, nil, 0, false},
		"single fault passed before":     {ofSingle, []Result{passed}, []Result{pair}, []Result{single}, plans[1:], 1, false},
		"single fault fails differently": {ofSingle, nil, []Result{pair}, []Result{otherwise}, plans[:1], 1, true},
		"pair passes":                    {ofSingle, nil, []Result{passedPair}, nil, plans[:1], 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			e.Options.Shard = test.shard
			got := pairExplorer{e}.merge(test.all, test.ofPairs, test.ofSingles)
			var gotPlans []Plan
			for _, r := range got {
				gotPlans = append(gotPlans, r.Plan)
				g.Expect(r.NeedsBoth).To(Equal(test.needsBoth))
			}
			g.Expect(gotPlans).To(Equal(test.plans))
			g.Expect(failedPlans(got)).To(HaveLen(test.failed))
		})
	}
	NewWithT(t).Expect(pairExplorer{e}.shrink(t.Context(), []Result{single}, []Result{pair})).To(Equal([]Result{single}), "a known failure is reported once")
}

func TestFailureBeforeSecondFaultIsReportedForFirst(t *testing.T) {
	g := NewWithT(t)
	e := learnedExplorer(1, "a")
	plans, err := Parse("a stale watch secrets - 1, then lost-response apply secrets web 1", e.Options.Scenarios)
	g.Expect(err).NotTo(HaveOccurred())
	half, passed := resultWith(verdict.Converges), resultWith()
	half.Plan, half.Triggered, half.triggers = plans[0], false, []fault.Trigger{{Fault: plans[0].Fault}}
	passed.Plan = Plan{Scenario: "a", Fault: plans[0].Fault}
	got := pairExplorer{e}.shrink(t.Context(), []Result{passed}, []Result{half})
	g.Expect(failedPlans(got)).To(Equal([]string{passed.String()}))
	g.Expect(got).To(HaveExactElements(HaveField("Triggered", true)))
}

func TestShardsPlayDifferentPairs(t *testing.T) {
	g := NewWithT(t)
	e := learnedExplorer(1, "a", "b")
	var played []Result
	for _, plan := range e.allPlans() {
		result := resultWith()
		result.Plan, result.writesAfter = plan, []fault.RequestKey{{Verb: "apply", Target: "secrets", Name: "web", Nth: 1}}
		played = append(played, result)
	}
	pairsIn := func(shard results.Shard) []Plan {
		ofShard := slices.DeleteFunc(slices.Clone(played), func(r Result) bool { return !shard.Has(r.String()) })
		return pairExplorer{e}.extend(ofShard, pairExplorer{e}.choose(40))
	}
	whole := pairsIn(results.Shard{})
	g.Expect(whole).To(HaveLen(40))
	g.Expect(slices.Concat(pairsIn(results.Shard{Index: 1, Of: 2}), pairsIn(results.Shard{Index: 2, Of: 2}))).To(ConsistOf(whole))

	played[0].Findings, played[1].Triggered = resultWith(verdict.Counts).Findings, false
	for _, pair := range (pairExplorer{e}).extend(played, pairExplorer{e}.choose(1000)) {
		first := Plan{Scenario: pair.Scenario, Fault: pair.Fault}
		g.Expect(first).NotTo(BeElementOf(played[0].Plan, played[1].Plan), "a pair extends a plan that passed")
	}
}

func TestInvariantsOfPairHoldUnderBothFaults(t *testing.T) {
	g := NewWithT(t)
	demanding := map[fault.Category]bool{fault.Crashes: true, fault.Errors: true}
	j := &judge{options: &Options{Invariants: func(category fault.Category, _ []record.ObjectVersion) error {
		if demanding[category] {
			return errors.New("broken")
		}
		return nil
	}}}
	broken := func(first, then fault.Type) bool {
		return j.invariants(Plan{Fault: fault.Fault{Type: first}, Then: fault.Fault{Type: then}}, nil) != nil
	}
	g.Expect(broken(fault.CrashAfter, fault.None)).To(BeTrue())
	g.Expect(broken(fault.CrashAfter, fault.ErrorBurst503)).To(BeTrue())
	g.Expect(broken(fault.LostResponse, fault.Stale)).To(BeFalse())
	g.Expect(broken(fault.Stale, fault.LostResponse)).To(BeFalse())
}
