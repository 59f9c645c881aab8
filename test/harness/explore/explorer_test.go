package explore

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/record"
	"github.com/operator-assay/assay/test/harness/scenario"
)

const (
	// long is far more than anything takes, for an overloaded machine.
	long = time.Minute
	// short is enough all the same, and it is what each failing plan costs.
	short = 10 * time.Second
)

func newExplorer(t *testing.T, operator Operator, scenarios ...scenario.Scenario) *Explorer {
	t.Helper()
	explorer, err := New(t.Context(), Options{ControlPlane: plane, Identity: identity, Operator: operator, Scenarios: scenarios, StepTimeout: long, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(explorer.Close)
	return explorer
}

// newImpatientExplorer is for plans that must fail. It has learnt the references.
func newImpatientExplorer(t *testing.T, operator Operator, scenarios ...scenario.Scenario) *Explorer {
	t.Helper()
	explorer := newExplorer(t, operator, scenarios...)
	if err := explorer.learn(t.Context()); err != nil {
		t.Fatal(err)
	}
	explorer.StepTimeout = short / lateFactor
	return explorer
}

func explore(t *testing.T, explorer *Explorer, categories ...faultinject.Category) []Result {
	t.Helper()
	results, err := explorer.Explore(t.Context(), categories...)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + Table(results))
	return results
}

// found lists the oracles with a finding against a plan.
func found(t *testing.T, results []Result, plan string) []string {
	t.Helper()
	i := slices.IndexFunc(results, func(r Result) bool { return r.Plan.String() == plan })
	if i < 0 {
		t.Fatalf("there is no plan %q", plan)
	}
	var oracles []string
	for _, finding := range results[i].Findings {
		oracles = append(oracles, finding.Oracle)
	}
	return oracles
}

func TestACorrectOperatorIsNotBlamed(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}), change, healing)
	results := explore(t, explorer, faultinject.Crashes, faultinject.LeaderChanges, faultinject.Errors, faultinject.Latency)
	// No event reports a copy that was made and deleted while its watch was broken, so no operator would heal that.
	explorer.Scenarios = explorer.Scenarios[:1]
	results = append(results, explore(t, explorer, faultinject.Staleness)...)
	g.Expect(FailureReport(results, Plan.String)).To(BeEmpty())
	g.Expect(Err(results)).To(Succeed())
	struck := slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return !r.Triggered })
	g.Expect(len(struck)).To(BeNumerically(">=", len(results)*9/10), "or this proves little")
	g.Expect(explorer.Permissions()).To(HaveKey("patch secrets"))
	g.Expect(explorer.Permissions()).NotTo(HaveKey("delete secrets"))
}

func TestANameMayHoldAUID(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	byUID := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, c.apply(ctx, of, of.Namespace+"-"+string(of.UID))
	}
	results := explore(t, newExplorer(t, operator(copier{copy: byUID}), creation), faultinject.Crashes)
	g.Expect(FailureReport(results, Plan.String)).To(BeEmpty())
	g.Expect(found(t, results, "copier/create crash-after apply secrets <namespace>-<uid> 1")).To(BeEmpty())
}

func TestARecordThatADeathPreventsIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).thenRecording, blind: true}), creation)
	results := explore(t, explorer, faultinject.Crashes, faultinject.LeaderChanges)
	for plan, oracles := range map[string][]string{
		"crash-before create secrets - 1":     nil,
		"crash-after create secrets - 1":      {Reference, Counts},
		"lost-response create secrets - 1":    {Reference, Counts},
		"delayed-write create secrets - 1":    {Reference, Counts},
		"crash-before patch configmaps web 1": {Reference, Counts},
		"crash-after patch configmaps web 1":  nil,
	} {
		g.Expect(found(t, results, "copier/create "+plan)).To(Equal(oracles), plan)
	}
	i := slices.IndexFunc(results, func(r Result) bool { return r.Fault.Type == faultinject.CrashAfter })
	g.Expect(results[i].String()).To(And(
		ContainSubstring("✗ lost     secrets web-copy-* created too often\n"),
		ContainSubstring("for example      copier/create crash-after create secrets - 1\n"),
		ContainSubstring("created secrets web-copy-* 2 times, not 1 as in the reference"),
		ContainSubstring("+ Secret/web-copy-* #2 is too many\n")))

	plans, err := Parse(results[i].Plan.String(), explorer.Scenarios)
	g.Expect(err).NotTo(HaveOccurred())
	again, err := explorer.Replay(t.Context(), plans...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found(t, again, results[i].Plan.String())).To(Equal([]string{Reference, Counts}))
}

func TestWhatAnOperatorDoesWhenItHasStartedAgainIsWaitedFor(t *testing.T) {
	t.Parallel()
	explorer := newImpatientExplorer(t, slowly(operator(copier{copy: (*copier).onceALife})), creation)
	results := explore(t, explorer, faultinject.Crashes)
	NewWithT(t).Expect(found(t, results, "copier/create crash-after create secrets - 1")).To(Equal([]string{Reference, Counts}))
}

func TestARefusalThatIsSwallowedIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).swallowing}), creation)
	for _, faultType := range []faultinject.Type{faultinject.Error409, faultinject.Error500} {
		plan := Plan{Scenario: creation.Name, Fault: faultinject.Fault{Type: faultType, At: firstApply}}
		results, err := explorer.Replay(t.Context(), plan)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found(t, results, plan.String())).To(ContainElement(Converges))
		g.Expect(results[0].Findings[0].Message).To(MatchRegexp(`^IsCopied\(A\): after 10\.?\d*s: none of 0 copies has the value A\n`))
		g.Expect(results[0].Run.Log).To(ContainElement(HaveField("Text", ContainSubstring("Cannot copy"))))
	}
}

// TestAnEndThatIsNotReachedIsNotCompared has a step fail that has actions behind it: without them the final state must
// differ from the reference, which tells nothing.
func TestAnEndThatIsNotReachedIsNotCompared(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).swallowing}), change)
	plan := Plan{Scenario: change.Name, Fault: faultinject.Fault{Type: faultinject.Error500, At: firstApply}}
	results, err := explorer.Replay(t.Context(), plan)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found(t, results, plan.String())).To(Equal([]string{Converges}))
}

// TestAResyncIsWaitedFor has an operator that swallows an error, and heals by its resync after the limit of a step.
func TestAResyncIsWaitedFor(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	resyncing := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		if c.apply(ctx, of, of.Name+"-copy") != nil {
			return reconcile.Result{RequeueAfter: short * 3 / 4}, nil
		}
		return reconcile.Result{}, nil
	}
	explorer := newImpatientExplorer(t, operator(copier{copy: resyncing}), creation)
	plan := Plan{Scenario: creation.Name, Fault: faultinject.Fault{Type: faultinject.Error500, At: firstApply}}
	results, err := explorer.Replay(t.Context(), plan)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found(t, results, plan.String())).To(Equal([]string{Late}))
	g.Expect(results[0].Findings[0].Message).To(MatchRegexp(`^IsCopied\(A\) took [78]\.?\d*s, more than 5s$`))
}

func TestAPlanThatNeverTriggersIsAnErrorByItself(t *testing.T) {
	t.Parallel()
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}), creation)
	for _, text := range []string{
		"copier/create error-500 apply secrets nobody 1",
		"copier/create stale watch nothings - 1",
		"copier/create stale watch secrets - 7",
	} {
		plans, err := Parse(text, explorer.Scenarios)
		if err != nil {
			t.Fatal(err)
		}
		_, err = explorer.Replay(t.Context(), plans...)
		NewWithT(t).Expect(err).To(MatchError(HavePrefix(`plan "` + text + `" never triggered`)))
	}
}

// firstApply is the request by which the correct operator makes the copy.
var firstApply = faultinject.RequestKey{Verb: "apply", Target: "secrets", Name: "web-copy", Nth: 1}

func TestAHotLoopIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).hotly}), creation)
	for _, faultType := range []faultinject.Type{faultinject.ErrorBurst409, faultinject.ErrorBurst503, faultinject.ConnectionResetBurst} {
		plan := Plan{Scenario: creation.Name, Fault: faultinject.Fault{Type: faultType, At: firstApply}}
		results, err := explorer.Replay(t.Context(), plan)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(found(t, results, plan.String())).To(Equal([]string{Retries}))
		g.Expect(results[0].Findings[0].Message).To(HavePrefix("apply secrets "))
	}
}

func TestADecisionByAnOldViewIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).trusting}), creation)
	results := explore(t, explorer, faultinject.Staleness)
	for plan, oracles := range map[string][]string{
		"stale watch configmaps - 1":         nil,
		"stale watch secrets - 1":            nil,
		"stale-restart watch configmaps - 1": nil,
		"stale-restart watch secrets - 1":    {Reference, Counts},
		"missed-events watch configmaps - 1": nil,
		"missed-events watch secrets - 1":    nil,
	} {
		g.Expect(found(t, results, "copier/create "+plan)).To(Equal(oracles), plan)
	}
	g.Expect(results).To(HaveLen(6))
}

// TestAHeldViewEnds has an operator that is never idle while its view is held: the view ends all the same, and what the
// operator does then is judged.
func TestAHeldViewEnds(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).insisting}), creation)
	plans, err := Parse("copier/create stale watch secrets - 1", explorer.Scenarios)
	g.Expect(err).NotTo(HaveOccurred())
	results, err := explorer.Replay(t.Context(), plans...)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(results[0].Findings).To(BeEmpty())
	g.Expect(results[0].Duration).To(BeNumerically("<", long/2), "it does not wait for the limit of the run")
}

// TestAnActionByAnOldStateIsFound has an operator undo what it did for a newer state, and do it again: no stale view
// from an action on shows that, because the operator has not acted on the newer state then.
func TestAnActionByAnOldStateIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).renaming}), change)
	results := explore(t, explorer, faultinject.Staleness, faultinject.TimeTravels)
	for plan, oracles := range map[string][]string{
		"time-travel watch configmaps - 1": nil,
		"time-travel watch configmaps - 2": {Counts},
		"time-travel watch * - 2":          {Counts},
	} {
		g.Expect(found(t, results, "copier/change "+plan)).To(Equal(oracles), plan)
	}
	for _, r := range results {
		if r.Fault.Type.Category() == faultinject.Staleness {
			g.Expect(r.Passed()).To(BeTrue(), r.String())
		}
	}
}

// TestATravelOverTwoActionsIsMade has a scenario that waits after each action, when nothing is to be released yet.
func TestATravelOverTwoActionsIsMade(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).renaming}), story("copier/twice", write("A"), converged, write("B"), converged))
	plan := Plan{Scenario: "copier/twice", Fault: watchFault(faultinject.TimeTravelFar, faultinject.AllTargets, 1)}
	results, err := explorer.Replay(t.Context(), plan)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(results[0].Triggered).To(BeTrue())
}

// TestADeletionThatIsSeenAgainIsFound has an operator clean up what belongs to another resource of the same name: it
// was created again since.
func TestADeletionThatIsSeenAgainIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).cleaningUp}), story("copier/recreate", write("A"), converged, deleteOriginal, converged, write("A"), converged))
	results := explore(t, explorer, faultinject.TimeTravels)
	g.Expect(found(t, results, "copier/recreate time-travel-deleting watch configmaps - 2")).To(Equal([]string{Counts}))
	g.Expect(found(t, results, "copier/recreate time-travel watch configmaps - 3")).To(BeEmpty())
}

// TestAResourceThatIsReplacedIsAnother has an operator remember by name what it has done for a resource. Without the fault
// nothing shows that: the resource is never another.
func TestAResourceThatIsReplacedIsAnother(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	for name, test := range map[string]struct {
		explorer *Explorer
		want     types.GomegaMatcher
	}{
		"by name": {newImpatientExplorer(t, operator(copier{copy: (*copier).onceALife}), creation), ContainElement(Reference)},
		"by UID":  {newExplorer(t, operator(copier{copy: (*copier).correctly}), creation), BeEmpty()},
	} {
		results := explore(t, test.explorer, faultinject.Replacements)
		g.Expect(results).NotTo(BeEmpty(), name)
		for _, r := range results {
			g.Expect(r.Triggered).To(BeTrue(), r.Plan.String())
			g.Expect(found(t, results, r.Plan.String())).To(test.want, r.String())
		}
	}
	g.Expect(newExplorer(t, operator(copier{copy: (*copier).correctly}), change).Explore(t.Context(), faultinject.Replacements)).To(BeEmpty(), "a changed resource has a past")
}

// TestAResourceWithAFinalizerIsReplacedWhenItIsGone has an operator that removes its finalizer itself.
func TestAResourceWithAFinalizerIsReplacedWhenItIsGone(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	results := explore(t, newExplorer(t, operator(copier{copy: (*copier).cleaningUp}), creation), faultinject.Replacements)
	g.Expect(FailureReport(results, Plan.String)).To(BeEmpty())
	g.Expect(found(t, results, "copier/create replaced apply secrets web-copy 1")).To(BeEmpty())
}

// polling is an operator without a cache: it lists everything at an interval, and writes where it sees a difference.
func polling(often time.Duration) Operator {
	return func(ctx context.Context, _ string, config *rest.Config, _ io.Writer) error {
		user, err := client.New(config, client.Options{})
		if err != nil {
			return err
		}
		c := &copier{Client: user}
		for ctx.Err() == nil {
			var all corev1.ConfigMapList
			_ = c.List(ctx, &all, client.MatchingLabels{"copy": "true"})
			for _, of := range all.Items {
				var copied corev1.Secret
				_ = c.Get(ctx, client.ObjectKey{Namespace: of.Namespace, Name: of.Name + "-copy"}, &copied)
				if string(copied.Data["value"]) != of.Data["value"] {
					_, _ = c.correctly(ctx, &of)
				}
			}
			select {
			case <-time.After(often):
			case <-ctx.Done():
			}
		}
		return ctx.Err()
	}
}

func TestAnOperatorThatPollsIsJudgedLikeOthers(t *testing.T) {
	for _, often := range []time.Duration{idleWindow / 3, settleWindow + idleWindow/3} {
		t.Run(often.String(), func(t *testing.T) {
			t.Parallel()
			explorer := newExplorer(t, polling(often), creation)
			explorer.StepTimeout = short // how long the explorer waits for an idle operator
			results := explore(t, explorer, faultinject.Crashes)
			NewWithT(t).Expect(FailureReport(results, Plan.String)).To(BeEmpty())
		})
	}
}

func TestAFailureWithoutAFaultIsOneLine(t *testing.T) {
	never := func(ctx context.Context, _ string, _ *rest.Config, _ io.Writer) error { <-ctx.Done(); return nil }
	restless := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		now := of.DeepCopy()
		now.Data["value"] += time.Now().String()
		return reconcile.Result{RequeueAfter: 10 * time.Millisecond}, c.apply(ctx, now, "restless")
	}
	garrulous := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		for range 100 {
			if err := c.apply(ctx, of, "web-copy"); err != nil {
				return reconcile.Result{}, err
			}
		}
		return reconcile.Result{}, nil
	}
	for name, test := range map[string]struct {
		operator Operator
		s        scenario.Scenario
		want     string
	}{
		"an operator that ends": {func(context.Context, string, *rest.Config, io.Writer) error { return errors.New("no licence") },
			creation, "copier/create fails without any fault: the operator exited by itself, 1 times: no licence"},
		"one that is content": {func(context.Context, string, *rest.Config, io.Writer) error { return nil },
			creation, "copier/create fails without any fault: the operator exited by itself, 1 times: it exited without an error"},
		"one that does nothing": {never,
			creation, "copier/create fails without any fault: the operator has not listed or watched anything within 5s"},
		"one that does something else": {operator(copier{copy: (*copier).correctly}),
			story("copier/other", write("A"), isCopied("C")), "copier/other fails without any fault: IsCopied(C): after 5"},
		"one that repeats itself": {operator(copier{copy: garrulous}), creation, "copier/create fails without any fault: apply secrets run-"},
		"one that never rests": {operator(copier{copy: restless}),
			story("copier/restless", write("A")), "copier/restless never converges without any fault: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			explorer := newExplorer(t, test.operator, test.s)
			explorer.StepTimeout = short / 2
			_, err := explorer.Explore(t.Context(), faultinject.Crashes)
			g.Expect(err).To(HaveOccurred())
			first, _, _ := strings.Cut(err.Error(), "\n")
			g.Expect(first).To(HavePrefix(test.want))
		})
	}
}

// TestRandomNamesAreLearnt explores an operator that names its copies at random: each run is compared by what the copies
// hold, and the exploration tells of it.
func TestRandomNamesAreLearnt(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	inventive := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, c.apply(ctx, of, "web-"+string(of.UID)[:8])
	}
	var progress strings.Builder
	explorer, err := New(t.Context(), Options{ControlPlane: plane, Identity: identity, Operator: operator(copier{copy: inventive}), Scenarios: []scenario.Scenario{creation}, StepTimeout: long, Progress: &progress})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(explorer.Close)
	g.Expect(explorer.learn(t.Context())).To(Succeed())
	g.Expect(progress.String()).To(ContainSubstring("copier/create: differs from run to run without any fault: the name of Secret/web-"))
	played := explore(t, explorer, faultinject.Latency, faultinject.TimeTravels)
	g.Expect(FailureReport(played, Plan.String)).To(BeEmpty())
	g.Expect(explorer.reference(creation.Name).counts).To(HaveKeyWithValue("created secrets <varies>", 1))
}

func TestWhatIsRefusedIsObserved(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	meddling := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		_ = c.Delete(ctx, of) // which its role does not grant
		return reconcile.Result{}, c.apply(ctx, of, of.Name+"-copy")
	}
	observed, err := newExplorer(t, operator(copier{copy: meddling})).Observe(t.Context(), creation)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(observed.Refused).To(Equal([]string{"delete configmaps, 403"}))
}

func TestAScenarioThatNobodyHasWrittenMayFail(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	broken := story("copier/broken", write("A"), isCopied("B"))
	var progress strings.Builder
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}), broken, creation)
	explorer.StepTimeout, explorer.LeaveOut, explorer.Progress = short/2, true, &progress
	for _, result := range explore(t, explorer, faultinject.Latency) {
		g.Expect(result.Scenario).To(Equal(creation.Name))
	}
	g.Expect(progress.String()).To(MatchRegexp(`^left out: copier/broken fails without any fault: IsCopied\(B\): after .*: none of 1 copies has the value B\n`))

	explorer = newExplorer(t, operator(copier{copy: (*copier).correctly}), broken)
	explorer.StepTimeout, explorer.LeaveOut = short/2, true
	_, err := explorer.Explore(t.Context(), faultinject.Latency)
	g.Expect(err).To(MatchError(ContainSubstring("copier/broken fails without any fault")), "there is nothing left to explore")
}

func TestWhatIsRandomIsToldOnce(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	salting := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		copied := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "web-copy", Namespace: of.Namespace}, Data: copyOf(of)}
		copied.Data["salt"] = []byte(rand.Text())
		return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, copied))
	}
	again := story("copier/again", creation.Steps...)
	var progress strings.Builder
	explorer := newExplorer(t, operator(copier{copy: salting}), creation, again)
	explorer.Progress = &progress
	g.Expect(explorer.learn(t.Context())).To(Succeed())
	g.Expect(progress.String()).To(MatchRegexp(`^copier/\w+: differs from run to run without any fault: Secret/web-copy data.salt\n$`))
}

func TestWhyAScenarioDoesNotWorkIsShown(t *testing.T) {
	t.Parallel()
	forbidden := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		ctrllog.FromContext(ctx).Info("About to do what it may not")
		return reconcile.Result{}, c.Delete(ctx, of)
	}
	explorer := newExplorer(t, operator(copier{copy: forbidden}), creation)
	explorer.StepTimeout = short / 2
	_, err := explorer.Explore(t.Context(), faultinject.Crashes)
	NewWithT(t).Expect(err).To(MatchError(And(MatchRegexp(`\nrefused: .* delete configmaps run-\w+/web 403 `), ContainSubstring("About to do what it may not"))))
}

func TestClusterScopedScenariosAreRejected(t *testing.T) {
	shared := scenario.Scenario{Name: "copier/role", Kinds: []schema.GroupVersionKind{rbacv1.SchemeGroupVersion.WithKind("ClusterRole")}}
	_, err := New(t.Context(), Options{ControlPlane: plane, Scenarios: []scenario.Scenario{creation, shared}})
	NewWithT(t).Expect(err).To(MatchError(HavePrefix("copier/role: ClusterRole is cluster-scoped, so all runs would share its objects")))
}

func TestAnInterruptedExplorationGivesWhatItHas(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}), change)
	g.Expect(explorer.learn(t.Context())).To(Succeed())
	explorer.slots = make(chan struct{}, 1)
	ctx, interrupt := context.WithCancelCause(t.Context())
	played := 0
	explorer.Invariants = func(faultinject.Category, []record.ObjectVersion) error {
		if played++; played == 2 {
			interrupt(errors.New("enough"))
		}
		return nil
	}
	results, err := explorer.Explore(ctx, faultinject.Crashes)
	g.Expect(err).To(MatchError("enough"))
	g.Expect(results).To(HaveLen(1))
	g.Expect(Err(results)).To(Succeed())
}

// TestNoGoroutineLeaks runs alone.
func TestNoGoroutineLeaks(t *testing.T) {
	g := NewWithT(t)
	before := gleak.Goroutines()
	explorer, err := New(t.Context(), Options{ControlPlane: plane, Identity: identity, Operator: operator(copier{copy: (*copier).correctly}), Scenarios: []scenario.Scenario{creation}})
	g.Expect(err).NotTo(HaveOccurred())
	results, err := explorer.Explore(t.Context(), faultinject.Crashes, faultinject.Staleness)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(Err(results)).To(Succeed())
	explorer.Close()
	connections := gleak.IgnoringCreator("golang.org/x/net/http2.(*Transport).newClientConn") // kept by client-go for later requests
	g.Eventually(gleak.Goroutines).WithTimeout(long).ShouldNot(gleak.HaveLeaked(before, connections))
}
