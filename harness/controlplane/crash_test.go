package controlplane_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/controlplane"
)

var _ = Describe("A control plane that crashes", Ordered, func() {
	var (
		temp      string
		crashing  *controlplane.ControlPlane
		user      *rest.Config
		namespace string
	)

	BeforeAll(func(ctx SpecContext) {
		temp = GinkgoT().TempDir()
		GinkgoT().Setenv("TMPDIR", temp)
		var err error
		crashing, err = controlplane.Start(ctx, controlplane.Options{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() {
			Expect(crashing.Stop()).To(Succeed(), "it complains of a process that was to die")
			expectNothingIn(temp)
		})
		role, err := yaml.Marshal(rbacv1.ClusterRole{
			TypeMeta:   metav1.TypeMeta{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"},
			ObjectMeta: metav1.ObjectMeta{Name: "reader"},
			Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}},
		})
		Expect(err).NotTo(HaveOccurred())
		user, err = crashing.User(ctx, "reader", role)
		Expect(err).NotTo(HaveOccurred())
		namespace, err = crashing.CreateNamespace(ctx, "crash")
		Expect(err).NotTo(HaveOccurred())
	})

	It("refuses connections, and comes back with its data, addresses and users", func(ctx SpecContext) {
		before := deployment(namespace, "before", 2)
		Expect(crashing.Client.Create(ctx, before)).To(Succeed())
		Eventually(readyReplicasAt(ctx, crashing, before)).Should(BeEquivalentTo(2))

		Expect(crashing.Crash(ctx)).To(Succeed())
		Expect(processesOf(temp)).To(HaveLen(1), "the watchdog")
		err := crashing.Client.Get(ctx, client.ObjectKeyFromObject(before), before)
		Expect(utilnet.IsConnectionRefused(err)).To(BeTrue(), "%v", err)
		Expect(crashing.Crash(ctx)).To(Succeed(), "again, which does nothing")

		began := time.Now()
		Expect(crashing.Restart(ctx)).Error().To(Succeed())
		AddReportEntry("restarted in", time.Since(began).String())
		reader, err := kubernetes.NewForConfig(user)
		Expect(err).NotTo(HaveOccurred())
		pods, err := reader.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(pods.Items).To(HaveLen(2))

		after := deployment(namespace, "after", 1)
		Expect(crashing.Client.Create(ctx, after)).To(Succeed())
		Eventually(readyReplicasAt(ctx, crashing, after)).Should(BeEquivalentTo(1))
	})

	It("keeps namespaces paused", func(ctx SpecContext) {
		crashing.PausePods(namespace)
		Expect(crashing.Crash(ctx)).To(Succeed())
		Expect(crashing.Restart(ctx)).Error().To(Succeed())
		paused, other := deployment(namespace, "paused", 1), deployment("default", "other", 1)
		Expect(crashing.Client.Create(ctx, paused)).To(Succeed())
		Expect(crashing.Client.Create(ctx, other)).To(Succeed())
		Eventually(readyReplicasAt(ctx, crashing, other)).Should(BeEquivalentTo(1))
		Expect(readyReplicasAt(ctx, crashing, paused)()).To(BeZero())
		crashing.ResumePods(namespace)
		Eventually(readyReplicasAt(ctx, crashing, paused)).Should(BeEquivalentTo(1))
	})

	It("forgets old versions when its etcd is compacted", func(ctx SpecContext) {
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "config"}}
		Expect(crashing.Client.Create(ctx, config)).To(Succeed())
		atOld := &client.ListOptions{Namespace: namespace, Raw: &metav1.ListOptions{
			ResourceVersion: config.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact}}
		config.Data = map[string]string{"key": "value"}
		Expect(crashing.Client.Update(ctx, config)).To(Succeed())
		Expect(crashing.Crash(ctx)).To(Succeed()) // it would remember the version itself
		Expect(crashing.Restart(ctx)).Error().To(Succeed())
		Expect(crashing.Client.List(ctx, &corev1.ConfigMapList{}, atOld)).To(Succeed())

		Expect(crashing.Compact(ctx)).To(Succeed())
		Expect(apierrors.IsResourceExpired(crashing.Client.List(ctx, &corev1.ConfigMapList{}, atOld))).To(BeTrue())
	})
})
