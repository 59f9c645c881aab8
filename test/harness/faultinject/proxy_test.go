package faultinject

import (
	"errors"
	"io"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// behindProxy is a client that knows nothing but the URL of a proxy for a new life.
func behindProxy(t *testing.T, wire *Injector) (client *kubernetes.Clientset, life *Instance, shut func()) {
	t.Helper()
	config, life := wire.NewInstance(identity)
	t.Cleanup(life.End)
	server, shut, err := Proxy(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(shut)
	client, err = kubernetes.NewForConfig(&rest.Config{Host: server, BearerToken: "not-the-operators", QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return client, life, shut
}

func TestAProxyServesTheAPI(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, wire := newRun(t, "")
	client, _, _ := behindProxy(t, wire)
	view := newView(t, client, namespace)
	g.Expect(create(ctx, client, namespace, "one")).To(Succeed())
	g.Eventually(view.told).Should(Equal([]string{"add one=A"}), "while the watch goes on")
	g.Expect(put(t, client, namespace, "one")).To(Succeed())
	g.Eventually(view.told).Should(Equal([]string{"add one=A", "update one=new"}))
	g.Expect(valueThrough(t, client, namespace, "one")).To(Equal("new"))
	_, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, "two", metav1.GetOptions{})
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue())
	g.Eventually(reached(t, namespace)).Should(Equal([]string{"create one", "update one", "get one", "get two"}), "as the operator")
	g.Expect(wire.Writes()).To(HaveLen(2))
}

func TestFaultsComeThroughAProxy(t *testing.T) {
	isBroken := func(err error) bool { return errors.Is(err, io.EOF) }
	for kind, test := range map[Type]struct {
		recognised func(error) bool
		done, dies bool
	}{
		Error409:        {recognised: apierrors.IsConflict},
		Error503:        {recognised: apierrors.IsServiceUnavailable},
		Error504:        {recognised: apierrors.IsTimeout},
		ConnectionReset: {recognised: isBroken},
		LostResponse:    {recognised: isBroken, done: true},
		CrashBefore:     {recognised: isBroken, dies: true},
		CrashAfter:      {recognised: isBroken, done: true, dies: true},
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			g, ctx := NewWithT(t), t.Context()
			namespace, wire := newRun(t, string(kind)+" create configmaps - 1")
			client, life, _ := behindProxy(t, wire)
			err := create(ctx, client, namespace, "one")
			g.Expect(test.recognised(err)).To(BeTrue(), "%v", err)
			want := []string{}
			if test.done {
				want = append(want, "one")
			}
			if test.dies {
				g.Expect(life.Crashed()).To(BeClosed())
				g.Expect(isBroken(create(ctx, client, namespace, "two"))).To(BeTrue())
			} else {
				g.Expect(life.Crashed()).NotTo(BeClosed())
				g.Expect(create(ctx, client, namespace, "two")).To(Succeed())
				want = append(want, "two")
			}
			g.Expect(onServer(t, namespace)).To(Equal(want))
		})
	}
}

func TestViewsAreHeldBehindAProxy(t *testing.T) {
	g := NewWithT(t)
	namespace, wire := newRun(t, "missed-events watch configmaps - 1")
	set(t, namespace, "one", "A")
	client, _, _ := behindProxy(t, wire)
	view := newView(t, client, namespace)
	g.Expect(view.told()).To(Equal([]string{"add one=A"}))
	wire.NextAction()
	set(t, namespace, "one", "B")
	set(t, namespace, "one", "A")
	view.nothingMore(t, namespace)
	g.Expect(wire.Release()).To(BeTrue())
	g.Eventually(view.told).Should(Equal([]string{"add one=A", "update one=A"}))
}

func TestAShutProxyEndsWhatGoesThroughIt(t *testing.T) {
	for what, end := range map[string]func(life *Instance, shut func()){
		"shut":  func(_ *Instance, shut func()) { shut() },
		"death": func(life *Instance, _ func()) { life.End() },
	} {
		t.Run(what, func(t *testing.T) {
			g, ctx := NewWithT(t), t.Context()
			namespace, wire := newRun(t, "")
			client, life, shut := behindProxy(t, wire)
			watch, err := client.CoreV1().ConfigMaps(namespace).Watch(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			defer watch.Stop()
			g.Expect(create(ctx, client, namespace, "one")).To(Succeed())
			g.Eventually(watch.ResultChan()).Should(Receive(HaveField("Object.ObjectMeta.Name", "one")))

			end(life, shut)
			g.Eventually(func() bool {
				_, open := <-watch.ResultChan()
				return open
			}).Should(BeFalse())
			g.Expect(create(ctx, client, namespace, "two")).NotTo(Succeed())
			g.Expect(onServer(t, namespace)).To(Equal([]string{"one"}))
		})
	}
}
