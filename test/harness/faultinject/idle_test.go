package faultinject

import (
	"context"
	"testing"
	"time"

	"github.com/operator-assay/assay/test/harness/record"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAnOperatorIsAtRestOnlyWhenItHasComeBackToWhatItWatched(t *testing.T) {
	g := NewWithT(t)
	namespace, wire := newScopedRun(t)
	client, life := newLife(t, wire)
	g.Expect(atRest(t, wire)).NotTo(Succeed(), "it has asked for nothing yet")
	newView(t, client, namespace)
	g.Expect(wire.Synced()).To(BeTrue())
	g.Expect(atRest(t, wire)).To(Succeed())

	life.End()
	client, life = newLife(t, wire)
	_, err := client.Discovery().ServerVersion()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(atRest(t, wire)).To(MatchError(ContainSubstring("it has not come back to what it watches")))
	secrets, err := client.CoreV1().Secrets(namespace).Watch(t.Context(), metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	defer secrets.Stop()
	g.Expect(atRest(t, wire)).NotTo(Succeed(), "it watched ConfigMaps, too")
	newView(t, client, namespace)
	g.Expect(atRest(t, wire)).To(Succeed())
	life.End()
}

func TestAnOperatorThatWatchesNothingComesBackToItsLists(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, wire := newScopedRun(t)
	for range 2 {
		client, life := newLife(t, wire)
		_, err := client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(atRest(t, wire)).To(Succeed())
		life.End()
	}
	client, _ := newLife(t, wire)
	_, err := client.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(atRest(t, wire)).NotTo(Succeed())
}

// newScopedRun is a run in which nothing goes wrong, whose wire knows its namespace.
func newScopedRun(t *testing.T) (namespace string, wire *Injector) {
	t.Helper()
	namespace, _ = newRun(t, "")
	return namespace, New(Fault{}, Scope{Namespace: namespace})
}

// atRest waits for a moment that the operator comes to rest.
func atRest(t *testing.T, wire *Injector) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	witness, err := record.NewHistory(ctx, plane.Client, wire.scope.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	return wire.WaitIdle(ctx, witness, 100*time.Millisecond)
}
