package explore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/explore/redact"
	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/verdict"
)

// panicking dereferences a nil pointer if a request fails. controller-runtime recovers from the panic and retries.
func (c *copier) panicking(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	if err := c.apply(ctx, of, of.Name+"-copy"); err != nil {
		var missing *corev1.Secret
		missing.Name = err.Error()
	}
	return reconcile.Result{}, nil
}

func (c *copier) panickingAtFirst(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	if !c.made["panic"] {
		c.made["panic"] = true
		panic("the key " + of.Name + " is unknown")
	}
	return c.correctly(ctx, of)
}

func TestPanicUnderAFaultIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).panicking}), creation)
	played := replay(t, explorer, refusedCopy)
	g.Expect(explorer.WithoutFault()).To(BeEmpty())
	g.Expect(played[0].Findings).To(ContainElement(And(
		HaveField("Oracle", verdict.Panics),
		HaveField("Message", MatchRegexp(`^at explore/withoutfault_test.go:\d+: runtime error: invalid memory address or nil pointer dereference$`)))))
}

func TestPanicWithoutFaultIsReportedOnce(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	var output log
	explorer := newExplorer(t, operator(copier{copy: (*copier).panickingAtFirst}), creation)
	explorer.Options.Progress = &output
	played := explore(t, explorer, fault.Latency)
	g.Expect(Report(played, nil).FailureText()).To(BeEmpty())
	exploration := explorer.Exploration(played, results.About{}, nil)
	g.Expect(exploration.WithoutFault).To(HaveExactElements(And(
		HaveField("Scenario", creation.Name), HaveField("Message", MatchRegexp(`^at explore/withoutfault_test.go:\d+: the key web is unknown$`)))))
	g.Expect(exploration.Headline()).To(Equal("1 finding without any fault: 1 panic"))
	g.Expect(strings.Count(output.text(), creation.Name+": found in a fault-free run: at explore/withoutfault_test.go:")).To(Equal(1))
}

func TestPanicIsIdentifiedByLine(t *testing.T) {
	g := NewWithT(t)
	w := &findingsWithoutFault{printf: func(string, ...any) {}}
	hide := redact.Values("s3cret-value")
	const trace = "\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/shop/main.go:3\n"
	plan, none := Plan{Scenario: "a", Fault: fault.Fault{Type: fault.CrashAfter}}, Plan{Scenario: "b"}
	g.Expect(w.newPanics(plan, "fine", hide)).To(BeEmpty())
	g.Expect(verdict.FromPanics(w.newPanics(plan, "panic: one"+trace+"panic: two [recovered]", hide)).Message).To(Equal("at shop/main.go:3: one\ntwo"))
	g.Expect(w.all()).To(BeEmpty(), "the fault caused the panic")

	g.Expect(verdict.FromPanics(w.newPanics(none, "panic: s3cret-value"+trace+"panic: two [recovered]", hide)).Message).To(Equal("at shop/main.go:3: s3cret-value\ntwo"))
	want := []any{HaveField("Message", "at shop/main.go:3: "+redact.Hidden), HaveField("Message", "two")}
	g.Expect(w.all()).To(HaveExactElements(want...))
	g.Expect(w.newPanics(plan, "panic: another value"+trace+"panic: two [recovered]", hide)).To(BeEmpty())
	g.Expect(verdict.FromPanics(w.newPanics(plan, "panic: three [recovered]", hide)).Message).To(Equal("three"))
	w.addPanics("c", []oracle.GoPanic{{Value: "again", Source: "shop/main.go:3"}}, hide)
	g.Expect(w.all()).To(HaveExactElements(want...), "every panic is reported once")
	w.addPanics("a", []oracle.GoPanic{{Value: "again", Source: "shop/main.go:33"}, {Source: "shop/main.go:5"}}, hide)
	g.Expect(w.all()).To(HaveExactElements(
		HaveField("Message", "at shop/main.go:33: again"), HaveField("Message", "at shop/main.go:5"), want[0], want[1]))

	w.addPanics("d", []oracle.GoPanic{{Value: "index out of range [3]"}}, hide)
	g.Expect(w.newPanics(plan, "panic: index out of range [7] [recovered]", hide)).To(BeEmpty(), "without a line, the numbers may differ")
	w.addPanics("e", []oracle.GoPanic{{Value: "bad password: s3cret-value"}}, hide)
	g.Expect(w.newPanics(plan, "panic: bad password: an0ther-value [recovered]", redact.Values("an0ther-value"))).To(BeEmpty(), "generated values differ in every run")
	g.Expect(w.newPanics(plan, "panic: slice bounds out of range [7:5] [recovered]", hide)).To(HaveLen(1))
}

func TestSecretThatContainsNamespaceIsRedacted(t *testing.T) {
	g, w, injector := NewWithT(t), &findingsWithoutFault{}, fault.New(fault.Scope{})
	const uri = "postgres://app:s3cret@db.run-1.svc"
	hide := redact.Values(uri)
	r := &recording{namespace: "run-1", injector: injector, outcome: outcome{stuck: []oracle.StuckDeletion{{Kind: "Web", Name: "run-1", Finalizers: []string{uri}}}}}
	w.addStuck("a", r, hide)
	j := judge{options: &Options{Invariants: func(fault.Category, []record.ObjectVersion) error { return errors.New("run-1: " + uri) }}, withoutFault: w}
	result := j.result(Plan{Fault: fault.Fault{Type: fault.CrashAfter}}, &reference{secrets: hide}, r)
	for _, found := range []verdict.Finding{w.all()[0].Finding, result.Findings[0]} {
		g.Expect(found.Detail + found.Message).To(And(ContainSubstring(redact.Hidden), ContainSubstring("<namespace>"), Not(ContainSubstring("s3cret"))))
	}
}

// The operator in this test generates a password and stores it in two Secrets. If it crashes between the two writes, it
// generates another password for the second Secret.
func TestGeneratedValueMismatchIsFound(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	generating := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		password := rand.Text()
		for _, name := range []string{of.Name + "-first", of.Name + "-second"} {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: name}, Data: map[string][]byte{"password": []byte(password)}}
			if err := c.Create(ctx, secret); client.IgnoreAlreadyExists(err) != nil {
				return reconcile.Result{}, err
			}
		}
		return reconcile.Result{}, nil
	}
	create := story("copier/create", write("A"))
	explorer := newImpatientExplorer(t, operator(copier{copy: generating}), create)
	plans, err := Parse("copier/create crash-after create secrets - 1", []scenario.Scenario{create})
	g.Expect(err).NotTo(HaveOccurred())
	played := replay(t, explorer, plans...)
	g.Expect(played[0].Findings).To(ContainElement(And(HaveField("Oracle", verdict.Agreement),
		HaveField("Message", ContainSubstring("Secret/web-first data.password and Secret/web-second data.password do not contain the same value")))))
}

// The operator in this test never removes its finalizer, because it first updates a Service and the API server rejects
// that update.
func TestDeletionThatNeverFinishesIsReported(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	stubborn := func(c *copier, ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
		if !of.DeletionTimestamp.IsZero() {
			return reconcile.Result{}, client.IgnoreNotFound(c.Update(ctx, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: of.Name}}))
		}
		return c.cleaningUp(ctx, of)
	}
	explorer := newExplorer(t, operator(copier{copy: stubborn}), story("copier/delete", write("A"), converged, deleteOriginal))
	g.Expect(explorer.Check(t.Context())).To(Succeed())
	g.Expect(explorer.WithoutFault()).To(HaveExactElements(And(
		HaveField("Oracle", verdict.Deletions),
		HaveField("Scenario", "copier/delete"),
		HaveField("Message", HavePrefix("ConfigMap web is never deleted: the operator does not remove the finalizer copier.example.com/finalizer\nthe API server rejects update services, 422: ")))))
}

func TestCrashWithoutFaultShowsPanic(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	crashing := func(_ context.Context, _ string, _ *rest.Config, out io.Writer) error {
		fmt.Fprint(out, "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/shop/main.go:3\n", strings.Repeat("more\n", logTailLines))
		return errors.New("exit status 2")
	}
	explorer := newExplorer(t, crashing, creation)
	_, err := explorer.Explore(t.Context(), fault.Latency)
	g.Expect(err).To(MatchError(ContainSubstring("exit status 2\npanic at shop/main.go:3: boom\n")))
	g.Expect(explorer.WithoutFault()).To(HaveLen(1))
}
