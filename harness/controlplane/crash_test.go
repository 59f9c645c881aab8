package controlplane_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("A crashed control plane", func() {
	It("keeps its data, addresses, users and paused namespaces after a restart", func(ctx SpecContext) {
		user, err := cp.User(ctx, "reader", []byte(roles))
		Expect(err).NotTo(HaveOccurred())
		namespace, pausedNamespace := newNamespace(ctx), newNamespace(ctx)
		before := deployment(namespace, "before", 2)
		Expect(cp.Client.Create(ctx, before)).To(Succeed())
		Eventually(readyReplicas(ctx, before)).Should(BeEquivalentTo(2))
		cp.PausePods(pausedNamespace)
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "config"}}
		Expect(cp.Client.Create(ctx, config)).To(Succeed())
		atOld := &client.ListOptions{Namespace: namespace, Raw: &metav1.ListOptions{
			ResourceVersion: config.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact}}
		config.Data = map[string]string{"key": "value"}
		Expect(cp.Client.Update(ctx, config)).To(Succeed())

		By("crashing")
		Expect(cp.Crash(ctx)).To(Succeed())
		Expect(processesOf(temp)).To(HaveLen(1), "only the watchdog is running")
		err = cp.Client.Get(ctx, client.ObjectKeyFromObject(before), before)
		Expect(utilnet.IsConnectionRefused(err)).To(BeTrue(), "%v", err)
		Expect(cp.Crash(ctx)).To(Succeed(), "a second crash does nothing")

		By("restarting")
		began := time.Now()
		Expect(cp.Restart(ctx)).To(Succeed())
		AddReportEntry("restarted in", time.Since(began).String())
		Expect(podsOf(ctx, namespace)).To(HaveLen(2))
		Expect(clientOf(user).Get(ctx, client.ObjectKeyFromObject(config), config)).To(Succeed())
		Expect(config.Data).To(HaveKeyWithValue("key", "value"))

		paused, after := deployment(pausedNamespace, "paused", 1), deployment(namespace, "after", 1)
		Expect(cp.Client.Create(ctx, paused)).To(Succeed())
		Expect(cp.Client.Create(ctx, after)).To(Succeed())
		Eventually(readyReplicas(ctx, after)).Should(BeEquivalentTo(1))
		Expect(readyReplicas(ctx, paused)()).To(BeZero())
		cp.ResumePods(pausedNamespace)
		Eventually(readyReplicas(ctx, paused)).Should(BeEquivalentTo(1))

		By("compacting etcd") // after a restart, because the API server keeps recent versions in memory
		Expect(cp.Client.List(ctx, &corev1.ConfigMapList{}, atOld)).To(Succeed())
		Expect(cp.Compact(ctx)).To(Succeed())
		Expect(apierrors.IsResourceExpired(cp.Client.List(ctx, &corev1.ConfigMapList{}, atOld))).To(BeTrue())
	})
})
