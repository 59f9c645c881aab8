package controlplane_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
)

// stableFor is longer than the controller-manager needs to finish after the Pods are ready.
const stableFor = 100 * time.Millisecond

var _ = Describe("A recorded namespace", func() {
	var resources *record.ResourceLister

	BeforeEach(func() {
		var err error
		resources, err = record.NewResourceLister(cp.Config)
		Expect(err).NotTo(HaveOccurred())
	})

	It("contains all objects, including custom resources", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		web := deployment(namespace, "web", 1)
		Expect(cp.Client.Create(ctx, web)).To(Succeed())
		Expect(cp.Client.Create(ctx, widget(namespace, "one"))).To(Succeed())
		Eventually(readyReplicas(ctx, web)).Should(BeEquivalentTo(1))

		objects, err := resources.Objects(ctx, namespace)
		Expect(err).NotTo(HaveOccurred())
		var kinds []string
		for _, object := range objects {
			kinds = append(kinds, object.GetKind())
		}
		Expect(kinds).To(Equal([]string{"Deployment", "Pod", "ReplicaSet", "ServiceAccount", "Widget"}))
	})

	It("is equal in two runs of the same scenario, except for real differences", func(ctx SpecContext) {
		tell := func(size int64) oracle.Snapshot {
			GinkgoHelper()
			namespace := newNamespace(ctx)
			owner := widget(namespace, "web")
			Expect(unstructured.SetNestedField(owner.Object, size, "spec", "size")).To(Succeed())
			Expect(cp.Client.Create(ctx, owner)).To(Succeed())
			web := deployment(namespace, "web", 3)
			web.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())}
			Expect(cp.Client.Create(ctx, web)).To(Succeed())
			Expect(cp.Client.Create(ctx, webService(namespace))).To(Succeed())
			Eventually(readyReplicas(ctx, web)).Should(BeEquivalentTo(3))
			Expect(resources.WaitUnchanged(ctx, cp.Client, namespace, stableFor)).To(Succeed())

			var names []any
			for _, pod := range podsOf(ctx, namespace) {
				names = append(names, pod.Name)
			}
			Expect(unstructured.SetNestedSlice(owner.Object, names, "status", "nodes")).To(Succeed())
			Expect(cp.Client.Status().Update(ctx, owner)).To(Succeed())
			return snapshot(ctx, resources, namespace)
		}
		first := tell(1)
		Expect(first).To(HaveKey("Deployment.apps/web"))
		Expect(oracle.Diff(first, tell(1))).To(BeEmpty())
		difference := oracle.Diff(first, tell(2))
		Expect(difference).To(And(ContainSubstring("-  size: 1"), ContainSubstring("+  size: 2")))
	})

	It("contains the changes that happened while a watch was broken", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		configMap := func(name string) *corev1.ConfigMap {
			return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		}
		stays, goes := configMap("stays"), configMap("goes")
		Expect(cp.Client.Create(ctx, stays)).To(Succeed())
		Expect(cp.Client.Create(ctx, goes)).To(Succeed())
		opened := make(chan *watch.FakeWatcher, 1)
		broken := interceptor.NewClient(cp.Client, interceptor.Funcs{
			Watch: func(_ context.Context, _ client.WithWatch, _ client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
				if (&client.ListOptions{}).ApplyOptions(options).Raw.SendInitialEvents != nil {
					return nil, apierrors.NewInvalid(schema.GroupKind{}, "", nil) // makes the client fall back to a list
				}
				watcher := watch.NewFake()
				opened <- watcher
				return watcher, nil
			},
		})
		history, err := record.NewHistory(ctx, broken, namespace, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		Expect(err).NotTo(HaveOccurred())
		var watcher *watch.FakeWatcher
		Eventually(opened).WithContext(ctx).Should(Receive(&watcher))
		stays.Data = map[string]string{"has": "changed"}
		Expect(cp.Client.Update(ctx, stays)).To(Succeed())
		Expect(cp.Client.Delete(ctx, goes)).To(Succeed())
		Expect(cp.Client.Create(ctx, configMap("comes"))).To(Succeed())

		gone := apierrors.NewResourceExpired("too old").Status()
		watcher.Error(&gone)
		watcher.Stop()
		Eventually(history.Versions).WithArguments(namespace).WithContext(ctx).WithTimeout(10 * time.Second).Should(ContainElements(
			HaveField("GetName()", "comes"),
			And(HaveField("GetName()", "goes"), HaveField("Deleted", true)),
			And(HaveField("GetName()", "stays"), HaveField("Object", HaveKeyWithValue("data", HaveKeyWithValue("has", "changed"))))))
	})

	It("shows the fields that keep changing", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		restless := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "restless"}}
		Expect(cp.Client.Create(ctx, restless)).To(Succeed())
		const pause = 3 * stableFor // longer than the time between two updates
		watching, cancel := context.WithTimeout(ctx, 2*pause)
		defer cancel()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := 0; watching.Err() == nil; n++ {
				restless.Data = map[string]string{"beat": time.Now().String()}
				_ = cp.Client.Update(watching, restless)
			}
		}()
		err := resources.WaitUnchanged(watching, cp.Client, namespace, pause)
		<-done
		Expect(err).To(MatchError(And(
			MatchRegexp(`ConfigMap/restless changed \d+ times`),
			ContainSubstring("-  beat: "),
			ContainSubstring("+  beat: "))))
		Expect(resources.WaitUnchanged(ctx, cp.Client, namespace, stableFor)).To(Succeed())
	})

	It("has the requests of a client with verb, name and status", func(ctx SpecContext) {
		var recorder record.Recorder
		config := rest.CopyConfig(cp.Config)
		config.Wrap(recorder.Wrap)
		operator := clientOf(config)
		namespace := newNamespace(ctx)

		recorder.SetStep("create")
		Expect(operator.Create(ctx, widget(namespace, "one"))).To(Succeed())
		recorder.SetStep("apply")
		Expect(operator.Apply(ctx, client.ApplyConfigurationFromUnstructured(widget(namespace, "two")),
			client.FieldOwner("test"), client.ForceOwnership)).To(Succeed())
		recorder.SetStep("read")
		Expect(operator.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "one"}, widget("", ""))).To(Succeed())

		writes := recorder.Requests(record.InNamespace(namespace)).Writes()
		Expect(writes).To(HaveLen(2))
		Expect(writes[0]).To(And(HaveField("Verb", "create"), HaveField("Step", "create"), HaveField("Status", 201)))
		Expect(writes[1]).To(And(HaveField("Verb", "apply"), HaveField("Name", "two"), HaveField("Status", 201)))
		Expect(recorder.Requests(record.InNamespace(namespace)).Reads()).To(ConsistOf(HaveField("Step", "read")))
	})
})

func snapshot(ctx SpecContext, resources *record.ResourceLister, namespace string) oracle.Snapshot {
	GinkgoHelper()
	objects, err := resources.Objects(ctx, namespace)
	Expect(err).NotTo(HaveOccurred())
	return oracle.NewSnapshot(namespace, objects)
}

func webService(namespace string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeNodePort,
			Selector: map[string]string{"app": "web"},
			Ports:    []corev1.ServicePort{{Port: 80}},
		},
	}
}
