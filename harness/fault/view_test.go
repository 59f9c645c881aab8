package fault

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// view records the ConfigMap and Secret events that the informers of an instance have delivered.
type view struct {
	mu     sync.Mutex
	events []string
}

func newView(t *testing.T, client kubernetes.Interface, namespace string, tweaks ...informers.SharedInformerOption) *view {
	t.Helper()
	v := &view{}
	ctx, cancel := context.WithCancel(t.Context())
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, append(tweaks, informers.WithNamespace(namespace))...)
	t.Cleanup(func() { cancel(); factory.Shutdown() })
	var synced []cache.InformerSynced
	for _, informer := range []cache.SharedIndexInformer{factory.Core().V1().ConfigMaps().Informer(), factory.Core().V1().Secrets().Informer()} {
		handler := cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { v.record("add", object) },
			UpdateFunc: func(_, object any) { v.record("update", object) },
			DeleteFunc: func(object any) { v.record("delete", object) },
		}
		registered, err := informer.AddEventHandler(handler)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		synced = append(synced, registered.HasSynced)
	}
	factory.Start(ctx.Done())
	waiting, enough := context.WithTimeout(ctx, timeout)
	defer enough()
	if !cache.WaitForCacheSync(waiting.Done(), synced...) {
		t.Fatal("the informers have not synced")
	}
	return v
}

func (v *view) record(what string, object any) {
	if last, missed := object.(cache.DeletedFinalStateUnknown); missed {
		object = last.Obj
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch object := object.(type) {
	case *corev1.ConfigMap:
		if object.Name != "kube-root-ca.crt" {
			v.events = append(v.events, what+" "+object.Name+"="+object.Data["value"])
		}
	case *corev1.Secret:
		v.events = append(v.events, what+" secret "+object.Name)
	}
}

func (v *view) Events() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.events)
}

// nothingMore verifies that no other event arrives. It waits for an event about another resource, because earlier
// events would arrive before it.
func (v *view) nothingMore(t *testing.T, namespace string) {
	t.Helper()
	g := NewWithT(t)
	before := v.Events()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "marker-"}}
	secret, err := admin.CoreV1().Secrets(namespace).Create(t.Context(), secret, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	marker := "add secret " + secret.Name
	g.Eventually(v.Events).Should(ContainElement(marker))
	g.Expect(v.Events()).To(Equal(append(before, marker)))
	v.mu.Lock()
	defer v.mu.Unlock()
	v.events = before
}

func TestStaleWatchDeliversInOrder(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "stale watch configmaps - 2")
	set(t, namespace, "one", "A")
	client, instance := newInstance(t, injector)
	g.Expect(injector.Synced()).To(BeFalse())
	view := newView(t, client, namespace)
	g.Expect(injector.Synced()).To(BeTrue())
	reported := []string{"add one=A"}
	g.Expect(view.Events()).To(Equal(reported))
	g.Expect(injector.Journal.RequestCounts()).NotTo(HaveKey(HaveField("Verb", "list")), "the informers use streaming lists")

	injector.NextAction()
	g.Expect(injector.Pending()).NotTo(BeClosed(), "the watch is paused at the second action")
	set(t, namespace, "one", "B")
	reported = append(reported, "update one=B")
	g.Eventually(view.Events).Should(Equal(reported))

	injector.NextAction()
	g.Expect(injector.Pending()).NotTo(BeClosed(), "no event is delayed yet")
	g.Expect(injector.TriggeredAt()).To(BeZero())
	set(t, namespace, "one", "C")
	g.Eventually(injector.Pending()).Should(BeClosed())
	g.Expect(injector.TriggeredAt()).NotTo(BeZero())
	set(t, namespace, "one", "D")
	set(t, namespace, "two", "A")
	g.Expect(admin.CoreV1().ConfigMaps(namespace).Delete(ctx, "one", metav1.DeleteOptions{})).To(Succeed())
	view.nothingMore(t, namespace)
	two, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, "two", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred(), "a live read returns the current state")
	g.Expect(two.Data["value"]).To(Equal("A"))

	g.Expect(injector.Release()).To(BeTrue())
	reported = append(reported, "update one=C", "update one=D", "add two=A", "delete one=D")
	g.Eventually(view.Events).Should(Equal(reported))
	g.Expect(injector.Release()).To(BeFalse())
	set(t, namespace, "two", "B")
	g.Eventually(view.Events).Should(Equal(append(reported, "update two=B")))
	g.Expect(instance.Crashed()).NotTo(BeClosed())
}

func TestStaleAcrossEndsAfterNextAction(t *testing.T) {
	g := NewWithT(t)
	namespace, injector := newRun(t, "stale-across watch configmaps - 1")
	set(t, namespace, "one", "A")
	client, instance := newInstance(t, injector)
	view := newView(t, client, namespace)
	injector.NextAction()
	set(t, namespace, "one", "B")
	view.nothingMore(t, namespace)
	g.Expect(injector.TriggeredAt()).NotTo(BeZero())
	g.Expect(injector.Pending()).NotTo(BeClosed())
	g.Expect(injector.Release()).To(BeFalse(), "the next action has not begun")

	injector.NextAction()
	g.Expect(injector.Pending()).To(BeClosed())
	set(t, namespace, "one", "C")
	view.nothingMore(t, namespace)
	g.Expect(injector.Release()).To(BeTrue())
	g.Eventually(view.Events).Should(Equal([]string{"add one=A", "update one=B", "update one=C"}))
	g.Expect(injector.Release()).To(BeFalse())
	g.Expect(instance.Crashed()).NotTo(BeClosed())
}

func TestStaleAcrossEndsAfterTimeout(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace, injector := newRun(t, "stale-across watch configmaps - 1")
	set(t, namespace, "one", "A")
	client, _ := newInstance(t, injector)
	view := newView(t, client, namespace)
	injector.NextAction()
	set(t, namespace, "one", "B")
	g.Eventually(view.Events).WithTimeout(2 * acrossBound).Should(ContainElement("update one=B"))
	injector.NextAction()
	g.Expect(injector.Pending()).NotTo(BeClosed())
	g.Expect(injector.Release()).To(BeFalse())
	g.Expect(injector.Delays()).To(ConsistOf(HaveField("To", Not(BeZero()))))
}

func TestDelayBetween(t *testing.T) {
	g := NewWithT(t)
	begin := time.Now()
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	ended, lasting := Delay{From: at(2), To: at(6)}, Delay{From: at(2)}
	for _, test := range []struct{ start, end, of, ofLasting int }{
		{0, 1, 0, 0}, {0, 4, 2, 2}, {3, 4, 1, 1}, {0, 9, 4, 7}, {5, 9, 1, 4}, {7, 9, 0, 2},
	} {
		g.Expect(ended.Between(at(test.start), at(test.end))).To(Equal(time.Duration(test.of) * time.Second))
		g.Expect(lasting.Between(at(test.start), at(test.end))).To(Equal(time.Duration(test.ofLasting) * time.Second))
	}
}

func TestMissedEventsAreNeverDelivered(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace, injector := newRun(t, "missed-events watch configmaps - 1")
	set(t, namespace, "one", "A")
	client, instance, _ := behindProxy(t, injector)
	view := newView(t, client, namespace)
	g.Expect(view.Events()).To(Equal([]string{"add one=A"}))
	watches := RequestKey{Verb: "watch", Target: "configmaps", Name: "-"}
	g.Expect(injector.Journal.RequestCounts()[watches]).To(Equal(1))

	injector.NextAction()
	set(t, namespace, "one", "B")
	set(t, namespace, "one", "A")
	set(t, namespace, "two", "A")
	view.nothingMore(t, namespace)
	g.Expect(injector.Release()).To(BeTrue())
	g.Eventually(view.Events).Should(ConsistOf("add one=A", "update one=A", "add two=A"))
	g.Expect(injector.Journal.RequestCounts()[watches]).To(BeNumerically(">", 1), "the informer has restarted its watch")
	g.Expect(injector.Release()).To(BeFalse())
	set(t, namespace, "two", "B")
	g.Eventually(view.Events).Should(ContainElement("update two=B"))
	g.Expect(view.Events()).NotTo(ContainElement("update one=B"))
	g.Expect(instance.Crashed()).NotTo(BeClosed())
}

func TestRestartedOperatorListsStaleState(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "stale-restart watch configmaps - 1")
	set(t, namespace, "one", "A")
	client, instance := newInstance(t, injector)
	newView(t, client, namespace)

	injector.NextAction()
	set(t, namespace, "one", "B")
	set(t, namespace, "two", "A")
	g.Expect(instance.Crashed()).NotTo(BeClosed())
	g.Expect(injector.Release()).To(BeTrue())
	g.Expect(instance.Crashed()).To(BeClosed())

	client, instance = newInstance(t, injector)
	view := newView(t, client, namespace)
	g.Expect(view.Events()).To(Equal([]string{"add one=A"}))
	g.Expect(valueThrough(t, client, namespace, "one")).To(Equal("B"), "a live read returns the current state")
	view.nothingMore(t, namespace)
	secrets, err := client.CoreV1().Secrets(namespace).List(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(secrets.Items).To(HaveLen(1), "other resources are not stale")

	g.Expect(injector.Release()).To(BeTrue())
	g.Eventually(view.Events).Should(Equal([]string{"add one=A", "update one=B", "add two=A"}))
	g.Expect(injector.Release()).To(BeFalse())
	g.Expect(instance.Crashed()).NotTo(BeClosed())
	client, _ = newInstance(t, injector)
	view = newView(t, client, namespace)
	g.Expect(view.Events()).To(ConsistOf("add one=B", "add two=A", HavePrefix("add secret")), "a later instance lists the current state")
}

func valueThrough(t *testing.T, client kubernetes.Interface, namespace, name string) string {
	t.Helper()
	object, err := client.CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return object.Data["value"]
}

// TestStaleListWithoutStreaming tests clients that do not use streaming lists: client-go before 0.35 and clients in
// other languages.
func TestStaleListWithoutStreaming(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "stale-restart watch configmaps - 1")
	set(t, namespace, "one", "A")
	client, _ := newInstance(t, injector)
	list := func() *corev1.ConfigMapList {
		list, err := client.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=one"})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(list.Items).To(HaveLen(1))
		return list
	}
	g.Expect(list().Items[0].Data["value"]).To(Equal("A"))
	g.Expect(injector.Synced()).To(BeTrue())

	injector.NextAction()
	set(t, namespace, "one", "B")
	g.Expect(injector.Release()).To(BeTrue())
	client, _ = newInstance(t, injector)
	old := list()
	g.Expect(old.Items[0].Data["value"]).To(Equal("A"))
	watch, err := client.CoreV1().ConfigMaps(namespace).Watch(ctx, metav1.ListOptions{ResourceVersion: old.ResourceVersion})
	g.Expect(err).NotTo(HaveOccurred())
	defer watch.Stop()
	g.Expect(injector.Release()).To(BeTrue())
	g.Eventually(watch.ResultChan()).Should(Receive(HaveField("Object.Data", HaveKeyWithValue("value", "B"))))
	g.Expect(list().Items[0].Data["value"]).To(Equal("B"))
}

func TestPausedWatchCanBeClosed(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "stale watch configmaps - 1")
	client, _ := newInstance(t, injector)
	watch, err := client.CoreV1().ConfigMaps(namespace).Watch(ctx, metav1.ListOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	injector.NextAction()
	set(t, namespace, "one", "A")
	watch.Stop()
	g.Eventually(func() bool {
		_, open := <-watch.ResultChan()
		return open
	}).Should(BeFalse())
	g.Expect(injector.Release()).To(BeTrue())
}
