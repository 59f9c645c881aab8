package explore

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

const (
	// long is a timeout that is never reached, even on an overloaded machine.
	long = time.Minute
	// short is the step timeout for plans that are expected to fail. On slow machines, the variable brief may be longer
	// and replaces it. The explorer also waits longer if the steps of the reference run were slow.
	short = 4 * time.Second
)

// brief is the step timeout in tests whose fault-free runs fail. startPlane increases it on slow machines, because the
// first steps of these runs must succeed.
var brief = 3 * time.Second

func newExplorer(t *testing.T, operator Operator, scenarios ...scenario.Scenario) *Explorer {
	t.Helper()
	needsControlPlane(t)
	explorer, err := New(t.Context(), Options{Environment: Environment{ControlPlane: plane, Identity: identity, Operator: operator}, Scenarios: scenarios, StepTimeout: long, Seed: 1})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(explorer.Close)
	explorer.player.learningWindow = shortPause // most operators in these tests do not pause
	return explorer
}

// newImpatientExplorer returns an explorer that has recorded its references. Its step timeout is short, because the
// plans are expected to fail.
func newImpatientExplorer(t *testing.T, operator Operator, scenarios ...scenario.Scenario) *Explorer {
	t.Helper()
	explorer := newExplorer(t, operator, scenarios...)
	NewWithT(t).Expect(explorer.learner.learn(t.Context())).To(Succeed())
	explorer.Options.StepTimeout = max(short, brief) / usual.lateFactor
	return explorer
}

func explore(t *testing.T, explorer *Explorer, categories ...fault.Category) []Result {
	t.Helper()
	results, err := explorer.Explore(t.Context(), categories...)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Log("\n" + Report(results, nil).Table())
	return results
}

// replay runs plans whose faults must be triggered.
func replay(t *testing.T, explorer *Explorer, plans ...Plan) []Result {
	t.Helper()
	results, err := explorer.Replay(t.Context(), plans...)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return results
}

// found returns the oracles that have findings for a plan. It ignores Late, because any step may be late on a busy
// machine.
func found(t *testing.T, results []Result, plan string) []verdict.Oracle {
	t.Helper()
	i := slices.IndexFunc(results, func(r Result) bool { return r.String() == plan })
	if i < 0 {
		t.Fatalf("there is no plan %q", plan)
	}
	var oracles []verdict.Oracle
	for _, finding := range results[i].Findings {
		if finding.Oracle != verdict.Late {
			oracles = append(oracles, finding.Oracle)
		}
	}
	return oracles
}

func TestCorrectOperatorPasses(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}), healing)
	results := explore(t, explorer, fault.Crashes, fault.Latency)
	// Do not run the healing scenario with errors or stale views. If the copy is created and deleted while the
	// operator's watch is interrupted, the operator receives no event and does not recreate the copy.
	explorer.Options.Scenarios = []scenario.Scenario{change}
	results = append(results, explore(t, explorer, fault.LeaderChanges, fault.Errors, fault.Staleness)...)
	g.Expect(Report(results, nil).FailureText()).To(BeEmpty())
	triggered := slices.DeleteFunc(slices.Clone(results), func(r Result) bool { return !r.Triggered })
	g.Expect(len(triggered)).To(BeNumerically(">=", len(results)*9/10), "most faults trigger")
}

func TestNameContainingUIDIsMatched(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	byUID := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, c.apply(ctx, of, of.Namespace+"-"+string(of.UID))
	}
	results := explore(t, newExplorer(t, operator(copier{copy: byUID}), creation), fault.Crashes)
	g.Expect(Report(results, nil).FailureText()).To(BeEmpty())
	g.Expect(found(t, results, "copier/create crash-after apply secrets <namespace>-<uid> 1")).To(BeEmpty())
}

func TestUnrecordedCopyIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).thenRecording, blind: true}), story("copier/create", write("A"), isCopied("A"), isRecorded))
	results := explore(t, explorer, fault.Crashes, fault.LeaderChanges)
	for plan, oracles := range map[string][]verdict.Oracle{
		"crash-before create secrets - 1":     nil,
		"crash-after create secrets - 1":      {verdict.Reference, verdict.Counts},
		"lost-response create secrets - 1":    {verdict.Reference, verdict.Counts},
		"delayed-write create secrets - 1":    {verdict.Reference, verdict.Counts},
		"crash-before patch configmaps web 1": {verdict.Reference, verdict.Counts},
		"crash-after patch configmaps web 1":  nil,
	} {
		g.Expect(found(t, results, "copier/create "+plan)).To(Equal(oracles), plan)
	}
	i := slices.IndexFunc(results, func(r Result) bool { return r.Fault.Type == fault.CrashAfter })
	g.Expect(Report(results[i:i+1], nil).FailureText()).To(And(
		ContainSubstring("✗ lost     secrets web-copy-* created too often\n"),
		ContainSubstring("for example      copier/create crash-after create secrets - 1\n"),
		ContainSubstring("created secrets web-copy-* 2 times, but 1 times in the reference run"),
		ContainSubstring("+ Secret/web-copy-* #2 is unexpected\n")))

	plans, err := Parse(results[i].String(), explorer.Options.Scenarios)
	g.Expect(err).NotTo(HaveOccurred())
	again := replay(t, explorer, plans...)
	g.Expect(found(t, again, results[i].String())).To(Equal([]verdict.Oracle{verdict.Reference, verdict.Counts}))
}

func TestIgnoredWriteErrorIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).swallowing}), creation, change)
	early := Plan{Scenario: change.Name, Fault: fault.Fault{Type: fault.Error500, At: firstApply}} // a step before the last action fails
	results := replay(t, explorer, append(atFirstApply(fault.Error409, fault.Error500), early)...)
	g.Expect(results).To(HaveLen(3))
	g.Expect(found(t, results, early.String())).To(Equal([]verdict.Oracle{verdict.Converges}), "the final state is not compared")
	for _, result := range results[:2] {
		g.Expect(found(t, results, result.String())).To(ContainElement(verdict.Converges))
		g.Expect(result.Findings[0].Message).To(MatchRegexp(`^IsCopied\(A\): after \S+: got 0 copies, want one with the value A\n`))
		g.Expect(result.Run.Log).To(ContainElement(HaveField("Text", ContainSubstring("Cannot copy"))))
	}
}

func TestReplayOfUntriggeredPlanFails(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}), creation)
	const first = "copier/create error-500 apply secrets unknown 1"
	plans, err := Parse(first+"; copier/create stale watch unknowns - 1; copier/create stale watch secrets - 7", explorer.Options.Scenarios)
	g.Expect(err).NotTo(HaveOccurred())
	results, err := explorer.Replay(t.Context(), plans...)
	g.Expect(err).To(MatchError(HavePrefix(`the fault of plan "` + first + `" was not triggered`)))
	g.Expect(results).To(And(HaveLen(3), HaveEach(HaveField("Triggered", false))))
}

var firstApply = fault.RequestKey{Verb: "apply", Target: "secrets", Name: "web-copy", Nth: 1}

func atFirstApply(types ...fault.Type) []Plan {
	var plans []Plan
	for _, faultType := range types {
		plans = append(plans, Plan{Scenario: creation.Name, Fault: fault.Fault{Type: faultType, At: firstApply}})
	}
	return plans
}

func TestHotLoopIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).hotly}), creation)
	results := replay(t, explorer, atFirstApply(fault.ErrorBurst409, fault.ErrorBurst503, fault.ConnectionResetBurst)...)
	g.Expect(results).To(HaveLen(3))
	for _, result := range results {
		g.Expect(found(t, results, result.String())).To(Equal([]verdict.Oracle{verdict.Retries}))
		g.Expect(result.Findings[0].Message).To(HavePrefix("apply secrets "))
	}
}

// polling returns an operator without a cache. It periodically lists all ConfigMaps and updates the copies that are out
// of date.
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

func TestPollingOperatorPasses(t *testing.T) {
	t.Parallel()
	for _, often := range []time.Duration{idleWindow / 3, settleWindow + idleWindow/3} {
		t.Run(often.String(), func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			explorer := newExplorer(t, polling(often), creation)
			explorer.Options.StepTimeout = 2 * idleTimeout
			results := replay(t, explorer, crashAfterCopy)
			g.Expect(Report(results, nil).FailureText()).To(BeEmpty())
		})
	}
}

func TestClusterScopedScenariosAreRejected(t *testing.T) {
	needsControlPlane(t)
	shared := scenario.Scenario{Name: "copier/role", Kinds: []schema.GroupVersionKind{rbacv1.SchemeGroupVersion.WithKind("ClusterRole")}}
	_, err := New(t.Context(), Options{Environment: Environment{ControlPlane: plane}, Scenarios: []scenario.Scenario{creation, shared}})
	NewWithT(t).Expect(err).To(MatchError(HavePrefix("copier/role: ClusterRole is cluster-scoped, so all runs would share its objects")))
}

func TestInterruptedExplorationReturnsResults(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}), change)
	g.Expect(explorer.learner.learn(t.Context())).To(Succeed())
	explorer.player.slots = make(chan struct{}, 1)
	ctx, interrupt := context.WithCancelCause(t.Context())
	played := 0
	explorer.Options.Invariants = func(fault.Category, []record.ObjectVersion) error {
		if played++; played == 2 {
			interrupt(errors.New("enough"))
		}
		return nil
	}
	results, err := explorer.Explore(ctx, fault.Crashes)
	g.Expect(err).To(MatchError("enough"))
	g.Expect(results).To(HaveLen(1))
	g.Expect(Report(results, nil).HasFailed()).To(BeFalse())
}

// TestNoGoroutineLeaks must not run in parallel with other tests.
func TestNoGoroutineLeaks(t *testing.T) {
	needsControlPlane(t)
	g := NewWithT(t)
	explore := func() {
		explorer, err := New(t.Context(), Options{Environment: Environment{ControlPlane: plane, Identity: identity, Operator: operator(copier{copy: (*copier).correctly})}, Scenarios: []scenario.Scenario{creation}})
		g.Expect(err).NotTo(HaveOccurred())
		defer explorer.Close()
		explorer.player.learningWindow = shortPause
		results := replay(t, explorer, crashAfterCopy, Plan{Scenario: creation.Name, Fault: watchFault(fault.StaleRestart, "secrets", 1)})
		g.Expect(Report(results, nil).HasFailed()).To(BeFalse())
	}
	explore() // the controllers of the control plane may still be starting
	before := gleak.Goroutines()
	explore()
	connections := gleak.IgnoringCreator("golang.org/x/net/http2.(*Transport).newClientConn") // kept alive by client-go
	g.Eventually(gleak.Goroutines).WithTimeout(long).ShouldNot(gleak.HaveLeaked(before, connections))
}
