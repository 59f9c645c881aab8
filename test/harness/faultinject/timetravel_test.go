package faultinject

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestATimeTravellerActsOnTheNewStateAndThenSeesTheOldOne(t *testing.T) {
	g := NewWithT(t)
	namespace, injector := newRun(t, "time-travel watch configmaps - 2")
	set(t, namespace, "one", "A")
	client, instance := newInstance(t, injector)
	view := newView(t, client, namespace)
	injector.NextAction()
	set(t, namespace, "one", "B")
	g.Eventually(view.Events).Should(Equal([]string{"add one=A", "update one=B"}))
	g.Expect(injector.Pending()).NotTo(BeClosed(), "the second action has not begun")

	injector.NextAction()
	set(t, namespace, "one", "C")
	g.Eventually(view.Events).Should(ContainElement("update one=C"), "it sees the new state")
	g.Expect(injector.Pending()).To(BeClosed())
	g.Expect(injector.TriggeredAt()).To(BeZero())
	g.Expect(injector.Release()).To(BeTrue())
	g.Expect(instance.Crashed()).To(BeClosed())
	g.Expect(injector.TriggeredAt()).NotTo(BeZero())

	client, instance = newInstance(t, injector)
	view = newView(t, client, namespace)
	g.Expect(view.Events()).To(Equal([]string{"add one=B"}), "and then the old one")
	view.nothingMore(t, namespace)
	g.Expect(injector.Release()).To(BeTrue())
	g.Eventually(view.Events).Should(Equal([]string{"add one=B", "update one=C"}), "and then the truth")
	g.Expect(injector.Release()).To(BeFalse())
	g.Expect(instance.Crashed()).NotTo(BeClosed())
}

func TestATimeTravellerGoesBackTwoActions(t *testing.T) {
	g := NewWithT(t)
	namespace, injector := newRun(t, "time-travel-far watch * - 1")
	set(t, namespace, "one", "A")
	client, _ := newInstance(t, injector)
	view := newView(t, client, namespace)
	injector.NextAction()
	set(t, namespace, "one", "B")
	g.Eventually(view.Events).Should(ContainElement("update one=B"))
	g.Expect(injector.Pending()).NotTo(BeClosed(), "it has seen one action of two")
	injector.NextAction()
	set(t, namespace, "one", "C")
	g.Eventually(injector.Pending()).Should(BeClosed())
	g.Expect(injector.Release()).To(BeTrue())

	client, _ = newInstance(t, injector)
	view = newView(t, client, namespace)
	g.Expect(view.Events()).To(Equal([]string{"add one=A"}))
	g.Expect(injector.Release()).To(BeTrue())
	g.Eventually(view.Events).Should(Equal([]string{"add one=A", "update one=B", "update one=C"}))
}

func TestNobodyTravelsWhoHasSeenNothing(t *testing.T) {
	g := NewWithT(t)
	namespace, injector := newRun(t, "time-travel watch secrets - 1")
	client, instance := newInstance(t, injector)
	newView(t, client, namespace)
	injector.NextAction()
	for injector.Release() {
	}
	g.Expect(instance.Crashed()).NotTo(BeClosed())
	g.Expect(injector.TriggeredAt()).To(BeZero())
}
