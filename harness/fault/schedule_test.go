package fault

import (
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
)

func TestSecondFaultCountsFromFirst(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "crash-after create configmaps - 2, then crash-before create configmaps - 2")
	client, _ := newInstance(t, injector)
	g.Expect(create(ctx, client, namespace, "first")).To(Succeed())
	g.Expect(create(ctx, client, namespace, "second")).To(MatchError(errDisconnected))
	g.Expect(injector.Triggers()).To(HaveLen(1))

	client, instance := newInstance(t, injector)
	g.Expect(create(ctx, client, namespace, "third")).To(Succeed())
	g.Expect(create(ctx, client, namespace, "fourth")).To(MatchError(errDisconnected))
	g.Expect(instance.Crashed()).To(BeClosed())

	client, _ = newInstance(t, injector)
	g.Expect(create(ctx, client, namespace, "fifth")).To(Succeed())
	g.Expect(configMapNames(t, namespace)).To(Equal([]string{"fifth", "first", "second", "third"}))
	triggers := injector.Triggers()
	g.Expect(triggers).To(HaveLen(2))
	g.Expect(triggers[0].Fault.String()).To(Equal("crash-after create configmaps - 2"))
	g.Expect(triggers[1].Fault.String()).To(Equal("crash-before create configmaps - 4"), "the trigger counts from the beginning of the run")
	g.Expect(triggers[1].Time).To(BeTemporally(">", triggers[0].Time))
	g.Expect(injector.TriggeredAt()).To(Equal(triggers[0].Time))
}

func TestSecondFaultWaitsForFirst(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "lost-response create secrets - 1, then stale watch configmaps - 1")
	client, _ := newInstance(t, injector)
	view := newView(t, client, namespace)
	injector.NextAction()
	g.Expect(create(ctx, client, namespace, "one")).To(Succeed())
	g.Eventually(view.Events).Should(Equal([]string{"add one=A"}))
	g.Expect(injector.Triggers()).To(BeEmpty())
}

func TestStaleWatchHidesLostResponse(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "lost-response create configmaps - 1, then stale watch configmaps - 1")
	client, _ := newInstance(t, injector)
	view := newView(t, client, namespace)
	injector.NextAction()
	injector.NextAction()
	g.Expect(create(ctx, client, namespace, "one")).To(MatchError(syscall.ECONNRESET))
	g.Eventually(injector.Pending()).Should(BeClosed())
	view.nothingMore(t, namespace)
	triggers := injector.Triggers()
	g.Expect(triggers).To(HaveLen(2))
	g.Expect(triggers[1].Fault.String()).To(Equal("stale watch configmaps - 2"), "the trigger counts from the beginning of the run")
	g.Expect(injector.Release()).To(BeTrue())
	g.Eventually(view.Events).Should(Equal([]string{"add one=A"}))
}

func TestActionsCountFromFirstFault(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "lost-response create configmaps - 1, then stale watch configmaps - 2")
	client, _ := newInstance(t, injector)
	view := newView(t, client, namespace)
	injector.NextAction()
	g.Expect(create(ctx, client, namespace, "one")).To(MatchError(syscall.ECONNRESET))
	g.Eventually(view.Events).Should(Equal([]string{"add one=A"}))
	injector.NextAction()
	g.Expect(create(ctx, client, namespace, "two")).To(Succeed())
	g.Eventually(injector.Pending()).Should(BeClosed())
	view.nothingMore(t, namespace)
}

func TestLostResponseDuringPausedWatch(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "stale watch configmaps - 1, then lost-response create configmaps - 1")
	client, _ := newInstance(t, injector)
	view := newView(t, client, namespace)
	injector.NextAction()
	set(t, namespace, "zero", "A")
	g.Eventually(injector.Pending()).Should(BeClosed())
	g.Expect(create(ctx, client, namespace, "one")).To(MatchError(syscall.ECONNRESET))
	view.nothingMore(t, namespace)
	g.Expect(injector.Release()).To(BeTrue())
	g.Eventually(view.Events).Should(Equal([]string{"add zero=A", "add one=A"}))
}

func TestSecondFaultTakesPrecedence(t *testing.T) {
	for _, first := range []string{"slow-writes", "error-burst-503 create configmaps - 1"} {
		t.Run(first, func(t *testing.T) {
			g, ctx := NewWithT(t), t.Context()
			namespace, injector := newRun(t, first+", then crash-before create configmaps - 2")
			client, instance := newInstance(t, injector)
			_ = create(ctx, client, namespace, "one")
			g.Expect(instance.Crashed()).NotTo(BeClosed())
			_ = create(ctx, client, namespace, "two")
			g.Expect(instance.Crashed()).NotTo(BeClosed())
			g.Expect(create(ctx, client, namespace, "three")).To(MatchError(errDisconnected))
			g.Expect(instance.Crashed()).To(BeClosed())
		})
	}
}

func TestWritesAfterFault(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "crash-after create configmaps - 2")
	client, _ := newInstance(t, injector)
	injector.NextAction()
	g.Expect(create(ctx, client, namespace, "before")).To(Succeed())
	g.Expect(injector.WritesAfterFault()).To(BeEmpty())
	g.Expect(create(ctx, client, namespace, "crashed")).To(MatchError(errDisconnected))

	client, _ = newInstance(t, injector)
	g.Expect(create(ctx, client, namespace, "crashed")).NotTo(Succeed(), "the object already exists, so this is not a write")
	g.Expect(create(ctx, client, namespace, "after")).To(Succeed())
	after := []RequestKey{{Verb: "create", Target: "configmaps", Name: "-", Nth: 2}}
	g.Expect(injector.WritesAfterFault()).To(Equal(after))
	injector.NextAction()
	g.Expect(create(ctx, client, namespace, "later")).To(Succeed())
	g.Expect(injector.WritesAfterFault()).To(Equal(after))
}
