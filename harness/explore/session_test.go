package explore

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

func counting(count func()) scenario.Step {
	return scenario.Step{Name: "Count", Run: func(context.Context, *scenario.Env) error {
		count()
		return nil
	}}
}

func TestPlansRunWhileScenarioIsLearned(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	plansPlayed := make(chan struct{})
	var runs atomic.Int64
	const ofReference = 1 + quietRuns
	early := story("copier/early", append([]scenario.Step{counting(func() {
		if runs.Add(1) == ofReference+1 {
			close(plansPlayed)
		}
	})}, creation.Steps...)...)
	late := story("copier/late", append(slices.Clone(creation.Steps), scenario.Step{Name: "PlansArePlayed", Run: func(ctx context.Context, _ *scenario.Env) error {
		select {
		case <-plansPlayed:
			return nil
		case <-ctx.Done():
			return errors.New("no plan has started")
		}
	}})...)
	played := explore(t, newExplorer(t, operator(copier{copy: (*copier).correctly}), late, early), fault.Latency)
	g.Expect(Report(played, nil).HasFailed()).To(BeFalse())
	g.Expect(played[0].Scenario).To(Equal(late.Name), "in the order of the plans")
	g.Expect(played[len(played)-1].Scenario).To(Equal(early.Name))
}

func TestFailuresAreConfirmedWhileLearning(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	confirmed := make(chan []Result, 1)
	var known atomic.Bool
	late := story("copier/late", append(slices.Clone(creation.Steps), scenario.Step{Name: "FailuresAreConfirmed", Run: func(ctx context.Context, _ *scenario.Env) error {
		if known.Load() {
			return nil
		}
		select {
		case soFar := <-confirmed:
			known.Store(true)
			confirmed <- soFar
			return nil
		case <-ctx.Done():
			return errors.New("no failure has been confirmed")
		}
	}})...)
	explorer := newExplorer(t, churning(func(*copier, context.Context, *corev1.ConfigMap) bool { return true }), late, creation)
	explorer.Options.SoFar = func(soFar []Result) {
		select {
		case confirmed <- soFar:
		default: // a value is already pending
		}
	}
	played := explore(t, explorer, fault.Crashes)
	again := HaveField("Confirmation", HaveValue(And(HaveField("Failed", BeNumerically(">=", 2)), HaveField("FailedWithoutFault", 0))))
	g.Expect(<-confirmed).To(ContainElement(again))
	g.Expect(played).To(ContainElement(again))
	before := slices.Clone(played)
	g.Expect(explorer.Confirm(t.Context(), played)).To(Succeed())
	for i, result := range before {
		if result.Confirmation != nil {
			g.Expect(played[i].Confirmation).To(BeIdenticalTo(result.Confirmation), "the confirmation is not repeated")
		}
	}
}

func TestCauseIsConfirmedByOnePlanAtATime(t *testing.T) {
	g := NewWithT(t)
	all := []Result{resultWith(verdict.Counts), resultWith(verdict.Counts), resultWith(verdict.Stable), resultWith()}
	g.Expect(unconfirmed(all)).To(HaveLen(2), "each cause has its own trial")
	first := all[0].trial
	g.Expect(first.cause).To(Equal([]int{0, 1}))
	g.Expect(all[2].trial.cause).To(Equal([]int{2}))
	g.Expect(all[3].trial).To(BeNil(), "the plan passed")
	g.Expect(unconfirmed(all)).To(BeEmpty(), "the trials are still running")
	g.Expect(all).To(HaveEach(HaveField("Confirmation", BeNil())), "no trial has a result yet")
	first.verdict.Played, first.verdict.Failed = 3, 1
	first.note(all)
	trials := unconfirmed(all)
	g.Expect(trials).To(HaveLen(1), "the first failure was unstable")
	trials[0].note(all)
	g.Expect(all[1].Confirmation).To(BeIdenticalTo(&trials[0].verdict.Confirmation))
}

func TestCoveredStepsAreNotPlanned(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	covered := change
	covered.Covered = 2
	// Disable the Secret watch, because a Secret event could make the operator apply the copy again at any time.
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly, blind: true}), covered)
	observed, err := explorer.Observe(t.Context(), change) // before the covering scenario is known
	g.Expect(err).NotTo(HaveOccurred())
	explorer.LearnFrom(change.Name, observed)
	g.Expect(explorer.learner.learn(t.Context())).To(Succeed())
	g.Expect(explorer.learner.reference(change.Name).points.reference.Writes).To(And(Not(BeEmpty()), HaveEach(HaveField("Nth", BeNumerically(">", 1)))))
}

func TestScenarioIsAddedWhileRunning(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}))
	running := explorer.Start(t.Context(), fault.Latency)
	g.Expect(running.Add(creation)).To(Succeed())
	played, err := running.Wait()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(played).To(HaveLen(len(fault.Types(fault.Latency))))
}

func TestReferenceStartsWithObservation(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var runs atomic.Int64
	counted := story("copier/counted", append([]scenario.Step{counting(func() { runs.Add(1) })}, creation.Steps...)...)
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}), counted)
	observed, err := explorer.Observe(t.Context(), counted)
	g.Expect(err).NotTo(HaveOccurred())
	explorer.LearnFrom(counted.Name, observed)
	g.Expect(explorer.learner.learn(t.Context())).To(Succeed())
	g.Expect(runs.Load()).To(BeEquivalentTo(1 + quietRuns))
}

func TestLateTrialMarksCauseAsLate(t *testing.T) {
	g := NewWithT(t)
	all := []Result{resultWith(verdict.Reference), resultWith(verdict.Reference), resultWith(verdict.Counts)}
	for i := range all {
		all[i].difference = &verdict.Deviation{Expected: &verdict.Expected{}, State: oracle.Snapshot{"Web/a": "{}"}}
	}
	unconfirmed(all)
	all[0].trial.add(resultWith(verdict.Late))
	all[0].trial.note(all)
	for _, result := range all[:2] {
		g.Expect(result.Findings).To(ConsistOf(HaveField("Oracle", verdict.Late)))
		g.Expect(result.difference).To(BeNil())
	}
	g.Expect(all[2].Findings).To(Equal(resultWith(verdict.Counts).Findings), "another cause")
}

func TestRandomDifferenceResetsConfirmation(t *testing.T) {
	g := NewWithT(t)
	want := &verdict.Expected{State: oracle.Snapshot{"Web/a": `{"l":[1,2]}`}}
	other := oracle.Snapshot{"Web/a": `{"l":[2,1]}`}
	all := []Result{resultWith(verdict.Counts)}
	unconfirmed(all)
	all[0].trial.withoutFault = []*verdict.Deviation{{Expected: want, State: other}}
	want.Learn(want.State, other)
	all[0].trial.note(all)
	g.Expect(all[0].Confirmation).NotTo(BeNil(), "each trial may reveal more random values, so the plan is not confirmed again at once")
	e := learnedExplorer(1)
	e.confirmer.e, e.player = e, &player{slots: make(chan struct{}, 1)}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(e.Confirm(canceled, all)).To(MatchError(context.Canceled), "the plan is rerun")
	g.Expect(all[0].Confirmation).To(BeNil())
}

func TestRandomDifferenceIsNotConfirmed(t *testing.T) {
	g := NewWithT(t)
	want := &verdict.Expected{State: oracle.Snapshot{"Web/a": `{"l":[1,2]}`}}
	random := resultWith(verdict.Reference)
	random.difference = &verdict.Deviation{Expected: want, State: oracle.Snapshot{"Web/a": `{"l":[2,1]}`}}
	want.Learn(want.State, random.difference.State)
	g.Expect(unconfirmed([]Result{random})).To(BeEmpty())
	trials := unconfirmed([]Result{random, resultWith(verdict.Reference)})
	g.Expect(trials).To(HaveLen(1))
	g.Expect(trials[0].example.difference).To(BeNil(), "another plan of the same cause is confirmed")
}

func TestPlansRunDuringSoFar(t *testing.T) {
	e := learnedExplorer(1, "a")
	x := &Session{e: e, ctx: t.Context(), results: []Result{resultWith(verdict.Counts)}}
	trial := unconfirmed(x.results)[0]
	var results []Result
	e.Options.SoFar = func(soFar []Result) {
		results = soFar
		if !x.mu.TryLock() {
			t.Fatal("the next result cannot be added")
		}
		x.mu.Unlock()
	}
	x.note(trial)
	NewWithT(t).Expect(results).To(ConsistOf(HaveField("Confirmation", BeIdenticalTo(&trial.verdict.Confirmation))))
}
