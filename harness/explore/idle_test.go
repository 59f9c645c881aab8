package explore

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

// slowPause is long enough to be recorded as a pause.
const slowPause = shortPause + settleWindow/2

// copySlowly copies a change after a delay, like an operator that sleeps between polls.
func (c *copier) copySlowly(ctx context.Context, of *corev1.ConfigMap) (reconcile.Result, error) {
	if !c.made[of.ResourceVersion] {
		c.made[of.ResourceVersion] = true
		return reconcile.Result{RequeueAfter: slowPause}, nil
	}
	return c.correctly(ctx, of)
}

func TestRunWaitsForPausingOperator(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newExplorer(t, operator(copier{copy: (*copier).copySlowly}), story("copier/unasserted", write("A"), converged))
	explorer.player.learningWindow = 2 * slowPause
	observed, err := explorer.Observe(t.Context(), explorer.Options.Scenarios[0])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(observed.States[0]).To(HaveKey("Secret/web-copy"))
	explorer.LearnFrom("copier/unasserted", observed)

	played := replay(t, explorer, Plan{Scenario: "copier/unasserted", Fault: watchFault(fault.Stale, "secrets", 1)})
	g.Expect(explorer.learner.reference("copier/unasserted").pause).To(And(BeNumerically(">", shortPause), BeNumerically("<", explorer.player.learningWindow)))
	g.Expect(played[0].Run.Withheld).To(HaveLen(1))
	withheld := played[0].Run.Withheld[0]
	g.Expect(withheld.To-withheld.From).To(BeNumerically(">", 2*slowPause.Milliseconds()), "the watch is withheld for longer than two pauses")
}

// fakeServer is an API server that responds immediately, except to requests for an object named slow.
type fakeServer struct{}

func (fakeServer) RoundTrip(request *http.Request) (*http.Response, error) {
	if strings.HasSuffix(request.URL.Path, "/slow") {
		time.Sleep(idleTimeout / 2)
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: request}, nil
}

// newIdleRun returns a run that does not need a control plane. Its operator has synced and is idle. send sends a
// request as the operator.
func newIdleRun(t *testing.T) (r *run, send func(method, path string) error) {
	t.Helper()
	g := NewWithT(t)
	history, err := record.NewHistory(t.Context(), nil, "run")
	g.Expect(err).NotTo(HaveOccurred())
	injector := fault.New(fault.Scope{Namespace: "run"})
	config, _ := injector.NewInstance(&rest.Config{Transport: fakeServer{}})
	transport, err := rest.TransportFor(config)
	g.Expect(err).NotTo(HaveOccurred())
	send = func(method, path string) error {
		_, err := transport.RoundTrip(httptest.NewRequest(method, "/api/v1/namespaces/run/"+path, nil))
		return err
	}
	g.Expect(send(http.MethodGet, "configmaps")).To(Succeed())
	return &run{
		attempt: attempt{against: &reference{}}, env: &environment{history: history}, player: &player{learningWindow: defaultLearningWindow},
		recording: &recording{namespace: "run", injector: injector, timing: timing{timely: long}},
	}, send
}

// This test uses fakeServer, because a slow control plane would cause additional pauses.
func TestRunDoesNotWaitForPromptOperator(t *testing.T) {
	for acts, want := range map[time.Duration]struct{ pause, slowest time.Duration }{
		0:              {0, 0},
		shortPause:     {0, shortPause},
		2 * shortPause: {2 * shortPause, 2 * shortPause},
	} {
		t.Run(acts.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				r, send := newIdleRun(t)
				go func() {
					time.Sleep(acts)
					_ = send(http.MethodDelete, "secrets/web-copy")
				}()
				synctest.Wait() // a request at the start must precede the wait
				unstable, difference := r.waitConverged(t.Context(), func(oracle.Snapshot) error { return nil })
				g.Expect(unstable).NotTo(HaveOccurred())
				g.Expect(difference).NotTo(HaveOccurred())
				g.Expect(r.recording.timing.pause).To(Equal(want.pause))
				g.Expect(r.recording.timing.slowest()).To(Equal(want.slowest), "the wait after a step does not count as its duration")
			})
		})
	}
}

func TestLongestPause(t *testing.T) {
	g := NewWithT(t)
	start := time.Now()
	at := func(from, to time.Duration) span { return span{start.Add(from), start.Add(to)} }
	g.Expect(longestPause(start, nil)).To(BeZero())
	g.Expect(longestPause(start, []span{at(3, 4)})).To(Equal(time.Duration(3)), "pause before the first request")
	g.Expect(longestPause(start, []span{at(1, 2), at(6, 7)})).To(Equal(time.Duration(4)), "pause between two requests")
	g.Expect(longestPause(start, []span{at(6, 7), at(-1, 5)})).To(Equal(time.Duration(1)), "a pending request is not a pause")
}
