package controlplane_test

import (
	"context"
	"errors"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/operator-assay/assay/harness/controlplane"
)

var _ = Describe("A manager in the test process", func() {
	It("reconciles until it is stopped", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		reconciled := make(chan string, 10)
		mgr := newManager(namespace)
		err := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).
			Complete(reconcile.Func(func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
				reconciled <- request.Name
				return reconcile.Result{}, nil
			}))
		Expect(err).NotTo(HaveOccurred())

		starting, cancel := context.WithCancel(ctx)
		stop, err := controlplane.RunManager(starting, mgr)
		Expect(err).NotTo(HaveOccurred())
		cancel() // ctx bounds only the startup

		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "seen"}}
		Expect(cp.Client.Create(ctx, object)).To(Succeed())
		Eventually(reconciled).Should(Receive(Equal("seen")))
		Expect(mgr.GetClient().Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())

		Expect(stop()).To(Succeed())
		Expect(stop()).To(Succeed(), "later calls return the same result")
	})

	It("returns the error of a manager that fails after it was ready", func(ctx SpecContext) {
		stop, err := controlplane.RunManager(ctx, failing{newManager("default")})
		Expect(err).NotTo(HaveOccurred())
		Expect(stop()).To(MatchError("no luck"))
	})

	It("returns the error if it ends before its cache has synced", func(ctx SpecContext) {
		mgr := newManager("default")
		Expect(mgr.Add(manager.RunnableFunc(func(context.Context) error { return errors.New("no luck") }))).To(Succeed())
		_, err := controlplane.RunManager(ctx, unfilled{Manager: mgr})
		Expect(err).To(MatchError("no luck"))
	}, SpecTimeout(20*time.Second))
})

type failing struct{ ctrl.Manager }

func (f failing) Start(ctx context.Context) error {
	return errors.Join(f.Manager.Start(ctx), errors.New("no luck"))
}

type unfilled struct{ ctrl.Manager }

func (u unfilled) GetCache() cache.Cache { return empty{u.Manager.GetCache()} }

type empty struct{ cache.Cache }

func (empty) WaitForCacheSync(ctx context.Context) bool {
	<-ctx.Done()
	return false
}

func newManager(namespace string) ctrl.Manager {
	GinkgoHelper()
	mgr, err := ctrl.NewManager(cp.Config, ctrl.Options{
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		Controller: config.Controller{SkipNameValidation: new(true)},
		Metrics:    server.Options{BindAddress: "0"},
	})
	Expect(err).NotTo(HaveOccurred())
	return mgr
}
