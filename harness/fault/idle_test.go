package fault

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/record"
)

func TestRestartedOperatorMustOpenWatches(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace, injector := newScopedRun(t)
	client, instance := newInstance(t, injector)
	g.Expect(waitIdle(t, injector)).NotTo(Succeed(), "the operator has sent no request yet")
	newView(t, client, namespace)
	g.Expect(injector.Synced()).To(BeTrue())
	g.Expect(waitIdle(t, injector)).To(Succeed())

	instance.End()
	client, instance = newInstance(t, injector)
	_, err := client.Discovery().ServerVersion()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(waitIdle(t, injector)).To(MatchError(ContainSubstring("the operator has not opened its watches again")))
	secrets, err := client.CoreV1().Secrets(namespace).Watch(t.Context(), metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	defer secrets.Stop()
	g.Expect(waitIdle(t, injector)).NotTo(Succeed(), "the first instance also watched ConfigMaps")
	newView(t, client, namespace)
	g.Expect(waitIdle(t, injector)).To(Succeed())
	instance.End()
}

func TestRestartedOperatorMustList(t *testing.T) {
	t.Parallel()
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newScopedRun(t)
	for range 2 {
		client, instance := newInstance(t, injector)
		_, err := client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(waitIdle(t, injector)).To(Succeed())
		instance.End()
	}
	client, _ := newInstance(t, injector)
	_, err := client.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(waitIdle(t, injector)).NotTo(Succeed())
}

func TestChangeRestartsIdleWindowOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		injector := New(Scope{Namespace: "a"})
		injector.recordOpened("watch", "configmaps")
		history, err := record.NewHistory(t.Context(), nil, "a")
		g.Expect(err).NotTo(HaveOccurred())
		start := time.Now()
		go func() {
			time.Sleep(50 * time.Millisecond)
			changed := &unstructured.Unstructured{}
			changed.SetNamespace("a")
			history.Record(record.ObjectVersion{Unstructured: changed})
		}()
		g.Expect(injector.WaitIdle(t.Context(), history, time.Second)).To(Succeed())
		g.Expect(time.Since(start)).To(Equal(1050 * time.Millisecond))
	})
}

func newScopedRun(t *testing.T) (namespace string, injector *Injector) {
	t.Helper()
	namespace, _ = newRun(t, "")
	return namespace, New(Scope{Namespace: namespace})
}

func waitIdle(t *testing.T, injector *Injector) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	history, err := record.NewHistory(ctx, plane.Client, injector.scope.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	return injector.WaitIdle(ctx, history, 100*time.Millisecond)
}
