package explore

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/test/harness/faultinject"
)

// slowly copies a change only when it has seen it for a while, as an operator does that sleeps between two looks.
func (c *copier) slowly(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	if !c.made[of.ResourceVersion] {
		c.made[of.ResourceVersion] = true
		return reconcile.Result{RequeueAfter: 2 * shortPause}, nil
	}
	return c.correctly(ctx, of)
}

func TestAnOperatorThatPausesIsAwaited(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).slowly}), story("copier/unasserted", write("A"), converged, write("B"), converged))
	explorer.learningWindow = defaultLearningWindow
	observed, err := explorer.Observe(t.Context(), explorer.Scenarios[0])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(observed.States[0]).To(HaveKey("Secret/web-copy"))

	played, err := explorer.Replay(t.Context(), Plan{Scenario: "copier/unasserted", Fault: watchFault(faultinject.Stale, "secrets", 1)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(explorer.reference("copier/unasserted").pause).To(BeNumerically("~", 2*shortPause, shortPause))
	g.Expect(played[0].Run.Withheld).To(HaveLen(1))
	withheld := played[0].Run.Withheld[0]
	g.Expect(withheld.To-withheld.From).To(BeNumerically(">", 4*shortPause.Milliseconds()), "after its first write it may act once more")
}

func TestAnOperatorThatReactsAtOnceIsNotAwaited(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).correctly}), creation)
	explorer.learningWindow = defaultLearningWindow
	g.Expect(explorer.learn(t.Context())).To(Succeed())
	g.Expect(explorer.reference(creation.Name).pause).To(BeZero())
	g.Expect(explorer.reference(creation.Name).slowest).To(BeNumerically("<", defaultLearningWindow), "no step is as slow as what was waited after it")
}

func TestTheLongestPause(t *testing.T) {
	g := NewWithT(t)
	start := time.Now()
	at := func(from, to time.Duration) span { return span{start.Add(from), start.Add(to)} }
	g.Expect(longestPause(start, nil)).To(BeZero())
	g.Expect(longestPause(start, []span{at(3, 4)})).To(Equal(time.Duration(3)), "from the start")
	g.Expect(longestPause(start, []span{at(1, 2), at(6, 7)})).To(Equal(time.Duration(4)), "between two")
	g.Expect(longestPause(start, []span{at(6, 7), at(-1, 5)})).To(Equal(time.Duration(1)), "a request under way is none")
}
