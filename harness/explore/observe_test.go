package explore

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/operator-assay/assay/harness/oracle"
)

func TestObserveReturnsChildren(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).thenRecording}))
	observed, err := explorer.Observe(t.Context(), story("copier/create", write("A"), converged))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(observed.Children).To(Equal([]oracle.Child{{Kind: corev1.SchemeGroupVersion.WithKind("Secret"), Name: "web-copy-*"}}))
	g.Expect(observed.States).To(HaveLen(1))
	g.Expect(observed.States[0]).To(HaveKey("Secret/web-copy-*"))
}

func TestCheckReportsEveryBrokenScenario(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}), creation,
		story("copier/other", write("A"), isCopied("C")), story("copier/another", write("A"), isCopied("D")))
	explorer.Options.StepTimeout = brief
	g.Expect(explorer.Check(t.Context())).To(MatchError(And(
		HavePrefix("2 of 3 scenarios fail without any fault:\n"), ContainSubstring("copier/other fails"), ContainSubstring("copier/another fails"))))
	explorer.Options.Scenarios = explorer.Options.Scenarios[:1]
	g.Expect(explorer.Check(t.Context())).To(Succeed())
}
