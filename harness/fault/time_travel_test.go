package fault

import (
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestTimeTravelRestoresOldState(t *testing.T) {
	g := NewWithT(t)
	namespace, injector := newRun(t, "time-travel watch configmaps - 2")
	set(t, namespace, "one", "A")
	user, instance := newInstance(t, injector)
	view := newView(t, user, namespace)
	injector.NextAction()
	set(t, namespace, "one", "B")
	g.Eventually(view.Events).Should(Equal([]string{"add one=A", "update one=B"}))
	g.Expect(injector.Pending()).NotTo(BeClosed(), "the second action has not begun")

	injector.NextAction()
	set(t, namespace, "one", "C")
	g.Eventually(view.Events).Should(ContainElement("update one=C"), "the operator first sees the new state")
	g.Expect(injector.Pending()).To(BeClosed())
	g.Expect(injector.TriggeredAt()).To(BeZero())
	g.Expect(injector.Release()).To(BeTrue())
	g.Expect(instance.Crashed()).To(BeClosed())
	g.Expect(injector.TriggeredAt()).NotTo(BeZero())

	user, instance = newInstance(t, injector)
	view = newView(t, user, namespace)
	g.Expect(view.Events()).To(Equal([]string{"add one=B"}), "then the old state")
	view.nothingMore(t, namespace)
	g.Expect(injector.Release()).To(BeTrue())
	g.Eventually(view.Events).Should(Equal([]string{"add one=B", "update one=C"}), "then the current state")
	g.Expect(injector.Release()).To(BeFalse())
	g.Expect(instance.Crashed()).NotTo(BeClosed())
}

func TestTimeTravelFarRestoresTwoActions(t *testing.T) {
	g := NewWithT(t)
	namespace, injector := newRun(t, "time-travel-far watch * - 1")
	set(t, namespace, "one", "A")
	user, _ := newInstance(t, injector)
	view := newView(t, user, namespace)
	injector.NextAction()
	set(t, namespace, "one", "B")
	g.Eventually(view.Events).Should(ContainElement("update one=B"))
	g.Expect(injector.Pending()).NotTo(BeClosed(), "the operator has seen only one of two actions")
	g.Expect(injector.Release()).To(BeFalse(), "Release does nothing until both actions have been seen")
	injector.NextAction()
	set(t, namespace, "one", "C")
	g.Eventually(injector.Pending()).Should(BeClosed())
	g.Expect(injector.Release()).To(BeTrue())

	user, _ = newInstance(t, injector)
	view = newView(t, user, namespace)
	g.Expect(view.Events()).To(Equal([]string{"add one=A"}))
	g.Expect(injector.Release()).To(BeTrue())
	g.Eventually(view.Events).Should(Equal([]string{"add one=A", "update one=B", "update one=C"}))
}

func TestTimeTravelDeletingRepeatsDeletion(t *testing.T) {
	g := NewWithT(t)
	namespace, injector := newRun(t, "time-travel-deleting watch configmaps - 1")
	set(t, namespace, "one", "A")
	user, _ := newInstance(t, injector)
	view := newView(t, user, namespace)
	finalize := func(finalizers string) {
		t.Helper()
		one := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one"}}
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":`+finalizers+`}}`))
		g.Expect(plane.Client.Patch(t.Context(), one, patch)).To(Succeed())
	}
	finalize(`["example.com/wait"]`)
	injector.NextAction()
	set(t, namespace, "one", "B")
	g.Eventually(view.Events).Should(ContainElement("update one=B"))
	set(t, namespace, "one", "C")
	g.Eventually(view.Events).Should(ContainElement("update one=C"))
	one := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "one"}}
	g.Expect(plane.Client.Delete(t.Context(), one)).To(Succeed())
	finalize(`null`)
	g.Eventually(view.Events).Should(ContainElement("delete one=C"))
	g.Expect(injector.Release()).To(BeFalse(), "the fault waits for the next action")

	injector.NextAction()
	set(t, namespace, "one", "D")
	g.Eventually(injector.Pending()).Should(BeClosed())
	g.Expect(injector.Release()).To(BeTrue())
	user, _ = newInstance(t, injector)
	view = newView(t, user, namespace)
	g.Expect(view.Events()).To(Equal([]string{"add one=C"}), "the operator sees the object as it was during its deletion")
	g.Expect(injector.Release()).To(BeTrue())
	g.Eventually(view.Events).Should(ContainElement("add one=D"))
	g.Expect(injector.TriggeredAt()).NotTo(BeZero())
}

func TestTimeTravelRequiresSeenChange(t *testing.T) {
	g := NewWithT(t)
	namespace, injector := newRun(t, "time-travel watch secrets - 1")
	user, instance := newInstance(t, injector)
	newView(t, user, namespace)
	injector.NextAction()
	for injector.Release() {
	}
	g.Expect(instance.Crashed()).NotTo(BeClosed())
	g.Expect(injector.TriggeredAt()).To(BeZero())
}
