package explore

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	admissionregistrationv1ac "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/pod"
	"github.com/operator-assay/assay/harness/scenario"
)

func TestFailureWithoutFaultIsOneLine(t *testing.T) {
	t.Parallel()
	never := func(ctx context.Context, _ string, _ *rest.Config, _ io.Writer) error { <-ctx.Done(); return nil }
	restless := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		now := of.DeepCopy()
		now.Data["value"] += time.Now().String()
		return reconcile.Result{RequeueAfter: 10 * time.Millisecond}, c.apply(ctx, now, "restless")
	}
	for name, test := range map[string]struct {
		operator Operator
		s        scenario.Scenario
		want     string
	}{
		"the operator exits with an error": {func(context.Context, string, *rest.Config, io.Writer) error { return errors.New("no licence") },
			creation, "copier/create fails without any fault: the operator exited unexpectedly (starts: 1): no licence"},
		"the operator exits without an error": {func(context.Context, string, *rest.Config, io.Writer) error { return nil },
			creation, "copier/create fails without any fault: the operator exited unexpectedly (starts: 1): no error was returned"},
		"the operator exits repeatedly": {exitsAfterList(pod.ErrExited),
			creation, "copier/create fails without any fault: the operator exited unexpectedly (starts: 10): exited with code 0"},
		"the operator fails after a list": {exitsAfterList(errors.New("no licence")),
			creation, "copier/create fails without any fault: the operator exited unexpectedly (starts: 1): no licence"},
		"the operator does nothing": {never,
			creation, "copier/create fails without any fault: the operator has not listed or watched anything within "},
		"the state differs": {operator(copier{copy: (*copier).correctly}),
			story("copier/other", write("A"), isCopied("C")), "copier/other fails without any fault: IsCopied(C): after "},
		"the operator never stops writing": {operator(copier{copy: restless}),
			story("copier/restless", write("A")), "copier/restless never converges without any fault: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			explorer := newExplorer(t, test.operator, test.s)
			explorer.Options.StepTimeout = brief
			_, err := explorer.Explore(t.Context(), fault.Crashes)
			g.Expect(err).To(HaveOccurred())
			first, _, _ := strings.Cut(err.Error(), "\n")
			g.Expect(first).To(HavePrefix(test.want))
		})
	}
}

func TestHotLoopWithoutFaultIsReported(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	garrulous := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		c.applyOften(ctx, of)
		return c.correctly(ctx, of)
	}
	var progress strings.Builder
	explorer := newExplorer(t, operator(copier{copy: garrulous}), creation)
	explorer.Options.Progress = &progress
	g.Expect(Report(explore(t, explorer, fault.Latency), nil).FailureText()).To(BeEmpty())
	g.Expect(progress.String()).To(MatchRegexp(`^copier/create: ignoring hot loops, because apply secrets run-\w+/web-copy was sent \d+ times within 2s without any fault\n`))
	g.Expect(strings.Count(progress.String(), "hot loops")).To(Equal(1))
}

func TestRandomNamesAreLearned(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	inventive := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, c.apply(ctx, of, "web-"+string(of.UID)[:8])
	}
	var progress strings.Builder
	explorer := newExplorer(t, operator(copier{copy: inventive}), creation)
	explorer.Options.Progress = &progress
	played := explore(t, explorer, fault.Latency, fault.TimeTravels)
	g.Expect(progress.String()).To(ContainSubstring("copier/create: not compared, because it varies between fault-free runs: the name of Secret/web-"))
	g.Expect(Report(played, nil).FailureText()).To(BeEmpty())
	g.Expect(explorer.learner.reference(creation.Name).counts).To(HaveKeyWithValue(oracle.Change{Target: "secrets", Object: "<varies>"}, 1))
}

func TestRejectedRequestsAreObserved(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	meddling := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		_ = c.Delete(ctx, of) // not allowed by its role
		return reconcile.Result{}, c.apply(ctx, of, of.Name+"-copy")
	}
	observed, err := newExplorer(t, operator(copier{copy: meddling})).Observe(t.Context(), story("copier/create", write("configmaps"), converged))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(observed.Refused).To(HaveExactElements(MatchRegexp(`^delete configmaps, 403: <value of a Secret> "web" is forbidden: User .* cannot delete resource`)))
}

func TestUnstoredWebhookIsReportedOnce(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	for name, register := range map[string]func(*copier, context.Context) error{ // as dry runs, which is how fault.Serve forwards them
		"created": func(c *copier, ctx context.Context) error {
			return c.Create(ctx, &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{GenerateName: "copier-"}}, client.DryRunAll)
		},
		"applied": func(c *copier, ctx context.Context) error {
			return c.Apply(ctx, admissionregistrationv1ac.MutatingWebhookConfiguration("copier"), client.FieldOwner("copier"), client.DryRunAll)
		},
	} {
		registering := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
			if err := register(c, ctx); err != nil {
				return reconcile.Result{}, err
			}
			return c.correctly(ctx, of)
		}
		var progress strings.Builder
		explorer := newExplorer(t, operator(copier{copy: registering}), creation)
		explorer.Options.Progress = &progress
		g.Expect(explorer.learner.learn(t.Context())).To(Succeed())
		g.Expect(progress.String()).To(Equal("the operator creates mutatingwebhookconfigurations.admissionregistration.k8s.io: they are not stored, and their webhooks are not called\n"), name)
	}
}

func TestGeneratedScenarioMayFail(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	broken := story("copier/broken", write("A"), isCopied("B"))
	var progress strings.Builder
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}), broken, creation)
	explorer.Options.StepTimeout, explorer.Options.LeaveOut, explorer.Options.Progress = brief, true, &progress
	for _, result := range explore(t, explorer, fault.Latency) {
		g.Expect(result.Scenario).To(Equal(creation.Name))
	}
	g.Expect(progress.String()).To(MatchRegexp(`(?m)^skipping a scenario: copier/broken fails without any fault: IsCopied\(B\): after .*: got 1 copies, want one with the value B$`))

	explorer = newExplorer(t, operator(copier{copy: (*copier).correctly}), broken)
	explorer.Options.StepTimeout, explorer.Options.LeaveOut = brief, true
	_, err := explorer.Explore(t.Context(), fault.Latency)
	g.Expect(err).To(MatchError(ContainSubstring("copier/broken fails without any fault")), "all scenarios failed")
}

func TestVaryingFieldIsReportedOnce(t *testing.T) {
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
	explorer.Options.Progress = &progress
	g.Expect(explorer.learner.learn(t.Context())).To(Succeed())
	g.Expect(progress.String()).To(MatchRegexp(`^copier/\w+: not compared, because it varies between fault-free runs: Secret/web-copy data.salt\n$`))
}

func TestScenarioFailureShowsRequestsAndLog(t *testing.T) {
	t.Parallel()
	forbidden := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		ctrllog.FromContext(ctx).Info("About to delete the ConfigMap")
		return reconcile.Result{}, c.Delete(ctx, of)
	}
	explorer := newExplorer(t, operator(copier{copy: forbidden}), creation)
	explorer.Options.StepTimeout = brief
	_, err := explorer.Explore(t.Context(), fault.Crashes)
	NewWithT(t).Expect(err).To(MatchError(And(MatchRegexp(`\nrefused: .* delete configmaps run-\w+/web 403 `), ContainSubstring("About to delete the ConfigMap"))))
}
