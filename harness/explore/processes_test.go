package explore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/pod"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/wait"
)

// lives counts the starts and exits of a process per run.
type lives struct {
	mu             sync.Mutex
	started, ended map[string]int
}

func newLives() *lives { return &lives{started: map[string]int{}, ended: map[string]int{}} }

// processFor returns a process that creates a ConfigMap when it starts, and exits when its run ends.
func (l *lives) processFor() Operator {
	return func(ctx context.Context, namespace string, config *rest.Config, _ io.Writer) error {
		l.add(l.started, namespace)
		defer l.add(l.ended, namespace)
		user, err := client.New(config, client.Options{})
		if err != nil {
			return err
		}
		own := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "companion"}}
		if err := client.IgnoreAlreadyExists(user.Create(ctx, own)); err != nil {
			return err
		}
		if err := user.List(ctx, &corev1.ServiceList{}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
}

func (l *lives) add(to map[string]int, namespace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	to[namespace]++
}

func exitsAfterList(exit error) Operator {
	return func(ctx context.Context, _ string, config *rest.Config, _ io.Writer) error {
		user, err := client.New(config, client.Options{})
		if err != nil {
			return err
		}
		return errors.Join(user.List(ctx, &corev1.SecretList{}), exit)
	}
}

func TestOperatorThatExitsAfterListIsRestarted(t *testing.T) {
	t.Parallel()
	g, started := NewWithT(t), sync.Map{}
	once := func(ctx context.Context, namespace string, config *rest.Config, log io.Writer) error {
		if _, isRestart := started.LoadOrStore(namespace, true); isRestart {
			return operator(copier{copy: (*copier).correctly})(ctx, namespace, config, log)
		}
		return exitsAfterList(pod.ErrExited)(ctx, namespace, config, log)
	}
	results := replay(t, newExplorer(t, once, creation), crashAfterCopy)
	g.Expect(Report(results, nil).FailureText()).To(BeEmpty())
}

var crashAfterCopy = Plan{Scenario: creation.Name, Fault: fault.Fault{Type: fault.CrashAfter, At: firstApply}}

func newExplorerWithCompanion(t *testing.T, companion Companion) *Explorer {
	t.Helper()
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}), creation)
	companion.Identity = identity
	explorer.player.environments.shared.config.Companions = []Companion{companion}
	return explorer
}

func TestCompanionLivesAsLongAsItsRun(t *testing.T) {
	t.Parallel()
	g, all := NewWithT(t), newLives()
	explorer := newExplorerWithCompanion(t, Companion{Name: "companion", Operator: all.processFor()})
	results := replay(t, explorer, crashAfterCopy)
	g.Expect(Report(results, nil).FailureText()).To(BeEmpty())
	explorer.Close()
	g.Expect(len(all.started)).To(BeNumerically(">", quietRuns))
	for namespace, times := range all.started {
		g.Expect(times).To(Equal(1), "a crash of the operator does not restart the companion")
		g.Expect(all.ended[namespace]).To(Equal(1), "the companion stops with the run")
	}
	ref := explorer.learner.reference(creation.Name)
	g.Expect(ref.final().State).To(HaveKey("ConfigMap/companion"))
	for _, write := range ref.points.writes {
		g.Expect(write.Target).To(Equal("secrets"), "only writes of the operator are recorded")
	}
}

func TestExitedCompanionIsRestarted(t *testing.T) {
	t.Parallel()
	g, all := NewWithT(t), newLives()
	lasting := all.processFor()
	once := func(ctx context.Context, namespace string, config *rest.Config, log io.Writer) error {
		all.mu.Lock()
		first := all.started[namespace] == 0
		all.mu.Unlock()
		if first {
			all.add(all.started, namespace)
			return errors.New("no certificate yet")
		}
		return lasting(ctx, namespace, config, log)
	}
	explorer := newExplorerWithCompanion(t, Companion{Name: "companion", Operator: once})
	results := replay(t, explorer, crashAfterCopy)
	g.Expect(Report(results, nil).FailureText()).To(BeEmpty())
	explorer.Close()
	for namespace, times := range all.started {
		g.Expect([]int{times, all.ended[namespace]}).To(Equal([]int{2, 1}))
	}
}

func TestFailingCompanionEndsTheRun(t *testing.T) {
	t.Parallel()
	exits := func(_ context.Context, _ string, _ *rest.Config, log io.Writer) error {
		fmt.Fprintln(log, "looking for a certificate")
		return errors.New("no certificate")
	}
	explorer := newExplorerWithCompanion(t, Companion{Name: "webhook", Operator: exits})
	err := explorer.learner.learn(t.Context())
	NewWithT(t).Expect(err).To(MatchError(And(
		HavePrefix("copier/create fails without any fault: webhook, a companion of the operator, exited unexpectedly (starts: 10): no certificate\n"),
		ContainSubstring("\nlog of webhook:\nlooking for a certificate\n"))))
}

func TestRunWaitsForCompanion(t *testing.T) {
	t.Parallel()
	g, all := NewWithT(t), newLives()
	lasting := all.processFor()
	begun := make(chan string, 100)
	late := func(ctx context.Context, namespace string, config *rest.Config, log io.Writer) error {
		subject := &corev1.ConfigMap{}
		err := wait.For(ctx, short/4, wait.Poll(settleWindow), func(ctx context.Context) error {
			return plane.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "web"}, subject)
		})
		if !apierrors.IsNotFound(err) {
			begun <- fmt.Sprintf("%s: %v", namespace, err)
		}
		return lasting(ctx, namespace, config, log)
	}
	g.Expect(newExplorerWithCompanion(t, Companion{Name: "companion", Operator: late}).learner.learn(t.Context())).To(Succeed())
	g.Expect(begun).NotTo(Receive())
}

func TestOnlyWebhookCompanionNeedsNoWatch(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	silent := func(ctx context.Context, _ string, _ *rest.Config, _ io.Writer) error {
		<-ctx.Done()
		return ctx.Err()
	}
	serving := newExplorerWithCompanion(t, Companion{Name: "companion", Operator: silent, ServesWebhooks: true})
	g.Expect(serving.learner.learn(t.Context())).To(Succeed())
	other := newExplorerWithCompanion(t, Companion{Name: "companion", Operator: silent})
	other.Options.StepTimeout = brief
	g.Expect(other.learner.learn(t.Context())).To(MatchError(ContainSubstring("companion, a companion of the operator, has not listed or watched anything within ")))
}

func TestClusterWideCompanionRunsExclusively(t *testing.T) {
	needsControlPlane(t)
	t.Parallel()
	g := NewWithT(t)
	user, err := founderIdentity()
	g.Expect(err).NotTo(HaveOccurred())
	explorer, err := New(t.Context(), Options{
		Environment: Environment{ControlPlane: plane, Identity: identity, Operator: operator(copier{copy: (*copier).correctly}),
			Companions: []Companion{{Name: "companion", Identity: user, Operator: founder("companion", true)}}},
		Scenarios: []scenario.Scenario{creation}, StepTimeout: long,
		NewEnvironment: func(context.Context) (Environment, error) { return Environment{}, errors.New("no environment") },
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(explorer.Close)
	g.Expect(explorer.learner.learn(t.Context())).To(MatchError(ContainSubstring("no environment")))
}
