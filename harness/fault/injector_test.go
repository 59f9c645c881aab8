package fault

import (
	"testing"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/record"
)

func withoutVersions(writes []Write) []Write {
	for i := range writes {
		writes[i].ResourceVersion = ""
	}
	return writes
}

func TestWritesExcludesUnchangedObjects(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "")
	client, _ := newInstance(t, injector)
	configMaps := client.CoreV1().ConfigMaps(namespace)

	g.Expect(create(ctx, client, namespace, "one")).To(Succeed())
	g.Expect(create(ctx, client, namespace, "one")).NotTo(Succeed(), "the object already exists")
	g.Expect(put(t, client, namespace, "one")).To(Succeed())
	g.Expect(put(t, client, namespace, "one")).To(Succeed(), "the update changes nothing")
	for range 2 {
		_, err := configMaps.Patch(ctx, "one", types.ApplyYAMLPatchType, []byte(`{apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {applied: "yes"}}`),
			metav1.PatchOptions{FieldManager: "test"})
		g.Expect(err).NotTo(HaveOccurred())
	}
	_, err := configMaps.Patch(ctx, "two", types.ApplyYAMLPatchType, []byte(`{apiVersion: v1, kind: ConfigMap, metadata: {name: two}}`), metav1.PatchOptions{FieldManager: "test"})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "made-up-"}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(configMaps.Delete(ctx, "one", metav1.DeleteOptions{})).To(Succeed())
	g.Expect(configMaps.Delete(ctx, "one", metav1.DeleteOptions{})).NotTo(Succeed(), "the object was already deleted")
	_, err = client.CoreV1().Events(namespace).Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "event-"}, InvolvedObject: corev1.ObjectReference{Namespace: namespace},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = client.CoordinationV1().Leases(namespace).Create(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "lease"}}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = configMaps.Get(ctx, "two", metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	for range 2 { // the second call deletes nothing
		two := metav1.ListOptions{FieldSelector: "metadata.name=two"}
		g.Expect(configMaps.DeleteCollection(ctx, metav1.DeleteOptions{}, two)).To(Succeed())
	}

	_, err = configMaps.Create(ctx, configMap("tried", "A"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	g.Expect(err).NotTo(HaveOccurred())

	own := corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "manager"}}}
	_, err = client.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: record.OwnPod("manager")}, Spec: own}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = client.CoreV1().Pods(namespace).Patch(ctx, record.OwnPod("manager"), types.MergePatchType, []byte(`{"metadata":{"labels":{"leader":"true"}}}`), metav1.PatchOptions{})
	g.Expect(err).NotTo(HaveOccurred())

	g.Expect(withoutVersions(injector.Journal.Writes())).To(Equal([]Write{
		{RequestKey: RequestKey{"create", "configmaps", "-", 1}, Object: "one", Created: true},
		{RequestKey: RequestKey{"update", "configmaps", "one", 1}, Object: "one"},
		{RequestKey: RequestKey{"apply", "configmaps", "one", 1}, Object: "one"},
		{RequestKey: RequestKey{"apply", "configmaps", "two", 1}, Object: "two", Created: true},
		{RequestKey: RequestKey{"create", "configmaps", "-", 3}, Object: "made-up-*", Created: true},
		{RequestKey: RequestKey{"delete", "configmaps", "one", 1}, Object: "one", Deleted: true},
		{RequestKey: RequestKey{"deletecollection", "configmaps", "-", 1}, Object: "*", Deleted: true},
		{RequestKey: RequestKey{"create", "pods", "-", 1}, Object: record.OwnPod("manager"), Created: true},
	}), "writes to the operator's own Pod are excluded")
	g.Expect(injector.Journal.RequestCounts()).To(HaveKeyWithValue(RequestKey{"delete", "configmaps", "one", 0}, 2))
	g.Expect(injector.Journal.RequestCounts()).To(HaveKeyWithValue(RequestKey{"create", "events", "-", 0}, 1))
	g.Expect(injector.Requests.Requests()).To(HaveLen(17), "requests for the Lease do not reach the API server")
	g.Expect(injector.TriggeredAt()).To(BeZero())

	again, _ := newInstance(t, injector)
	g.Expect(injector.Starts()).To(Equal(2))
	g.Expect(create(ctx, again, namespace, "again")).To(Succeed())
	requests := injector.Requests.Requests()
	g.Expect(requests[:len(requests)-1]).To(HaveEach(HaveField("Instance", 1)))
	g.Expect(requests[len(requests)-1].Instance).To(Equal(2))
}

func TestTemplateHashInNameIsNormalized(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "")
	client, _ := newInstance(t, injector)
	replicas := configMap("web-6b7f9c8d5", "A")
	replicas.Labels = map[string]string{"rollouts-pod-template-hash": "6b7f9c8d5"}
	_, err := client.CoreV1().ConfigMaps(namespace).Create(ctx, replicas, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(client.CoreV1().ConfigMaps(namespace).Delete(ctx, replicas.Name, metav1.DeleteOptions{})).To(Succeed())
	g.Expect(withoutVersions(injector.Journal.Writes())).To(Equal([]Write{
		{RequestKey: RequestKey{"create", "configmaps", "-", 1}, Object: "web-<hash>", Created: true},
		{RequestKey: RequestKey{"delete", "configmaps", "web-<hash>", 1}, Object: "web-<hash>", Deleted: true},
	}))
}

// TestVersionsOfSameNormalizedName updates an object without changing it, after another object with the same normalized
// name has been created. The update must not be recorded as a write.
func TestVersionsOfSameNormalizedName(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "")
	client, _ := newInstance(t, injector)
	configMaps := client.CoreV1().ConfigMaps(namespace)
	var created []*corev1.ConfigMap
	for range 2 {
		generated := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "web-"}}
		one, err := configMaps.Create(ctx, generated, metav1.CreateOptions{})
		g.Expect(err).NotTo(HaveOccurred())
		created = append(created, one)
	}
	_, err := configMaps.Update(ctx, created[0], metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(injector.Journal.Writes()).To(HaveEach(HaveField("Created", true)))
}

func TestSetFault(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "")
	client, instance := newInstance(t, injector)
	view := newView(t, client, namespace)
	g.Expect(create(ctx, client, namespace, "one")).To(Succeed())
	g.Eventually(view.Events).Should(Equal([]string{"add one=A"}))

	injector.SetFault(Fault{Type: Stale, At: RequestKey{Verb: "watch", Target: "configmaps", Name: "-"}})
	g.Expect(create(ctx, client, namespace, "two")).To(Succeed())
	g.Eventually(injector.Pending()).Should(BeClosed())
	view.nothingMore(t, namespace)

	injector.SetFault(Fault{Type: CrashBefore, At: RequestKey{"create", "configmaps", "-", 2}})
	g.Expect(injector.Pending()).NotTo(BeClosed())
	g.Eventually(view.Events).Should(Equal([]string{"add one=A", "add two=A"}), "SetFault delivers the delayed event")
	g.Expect(injector.TriggeredAt()).To(BeZero())
	g.Expect(create(ctx, client, namespace, "three")).To(Succeed(), "SetFault restarts the count")
	g.Expect(create(ctx, client, namespace, "four")).To(MatchError(errDisconnected))
	g.Expect(instance.Crashed()).To(BeClosed())
}

func TestNoGoroutineLeaks(t *testing.T) {
	namespace, injector := newRun(t, "stale-restart watch configmaps - 1")
	client, _ := newInstance(t, injector)
	NewWithT(t).Expect(create(t.Context(), client, namespace, "connects")).To(Succeed())
	before := gleak.Goroutines()
	t.Run("lives", func(t *testing.T) {
		g := NewWithT(t)
		newView(t, client, namespace)
		injector.NextAction()
		set(t, namespace, "one", "delayed")
		g.Expect(injector.Release()).To(BeTrue())
		client, _, _ := behindProxy(t, injector)
		newView(t, client, namespace)
	})
	connections := gleak.IgnoringCreator("golang.org/x/net/http2.(*Transport).newClientConn") // client-go keeps them for later requests
	NewWithT(t).Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before, connections))
}
