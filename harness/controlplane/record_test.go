package controlplane_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/operator-assay/assay/harness/record"
)

var _ = Describe("A recorded namespace", func() {
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
		Eventually(history.Versions).WithArguments(namespace).WithContext(ctx).Should(ContainElements(
			HaveField("GetName()", "comes"),
			And(HaveField("GetName()", "goes"), HaveField("Deleted", true)),
			And(HaveField("GetName()", "stays"), HaveField("Object", HaveKeyWithValue("data", HaveKeyWithValue("has", "changed"))))))
	})
})
