package controlplane_test

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("The control plane", func() {
	It("creates ready Pods for a Deployment", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		web := deployment(namespace, "web", 3)
		began := time.Now()
		Expect(cp.Client.Create(ctx, web)).To(Succeed())
		Eventually(readyReplicas(ctx, web)).Should(BeEquivalentTo(3))
		AddReportEntry("3 replicas ready in", time.Since(began).String())
		Expect(web.ManagedFields).To(ContainElement(HaveField("Manager", "kube-controller-manager")), "as in a cluster")

		for _, pod := range podsOf(ctx, namespace) {
			Expect(pod.Spec.NodeName).To(Equal("fake-node-1"))
			Expect(pod.Status.PodIP).NotTo(BeEmpty())
			Expect(pod.Status.StartTime).NotTo(BeNil())
			Expect(pod.Status.ContainerStatuses).To(HaveLen(1))
			Expect(pod.Status.ContainerStatuses[0].Image).To(Equal("example.com/main:v1"))
			Expect(pod.Status.ContainerStatuses[0].State.Running).NotTo(BeNil())
		}
	})

	It("removes the children of a deleted owner and a deleted namespace", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		owner := widget(namespace, "owner")
		Expect(cp.Client.Create(ctx, owner)).To(Succeed())
		owned := deployment(namespace, "owned", 2)
		owned.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, owner.GroupVersionKind())}
		Expect(cp.Client.Create(ctx, owned)).To(Succeed())
		Eventually(readyReplicas(ctx, owned)).Should(BeEquivalentTo(2))

		Expect(cp.Client.Delete(ctx, owner)).To(Succeed())
		Eventually(podsOf).WithArguments(ctx, namespace).Should(BeEmpty())

		itself := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		Expect(cp.Client.Delete(ctx, itself)).To(Succeed())
		Eventually(func() bool {
			return apierrors.IsNotFound(cp.Client.Get(ctx, client.ObjectKeyFromObject(itself), itself))
		}).Should(BeTrue())
	})

	It("keeps the Pods of a paused namespace pending or terminating", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		web := deployment(namespace, "web", 1)
		Expect(cp.Client.Create(ctx, web)).To(Succeed())
		Eventually(readyReplicas(ctx, web)).Should(BeEquivalentTo(1))
		first := podsOf(ctx, namespace)[0]

		cp.PausePods(namespace)
		Expect(cp.Client.Delete(ctx, first.DeepCopy())).To(Succeed())
		Eventually(podsOf).WithArguments(ctx, namespace).Should(HaveLen(2))

		other := deployment(newNamespace(ctx), "web", 1)
		Expect(cp.Client.Create(ctx, other)).To(Succeed())
		Eventually(readyReplicas(ctx, other)).Should(BeEquivalentTo(1), "other namespaces are not paused")
		for _, pod := range podsOf(ctx, namespace) {
			if pod.UID == first.UID {
				Expect(pod.DeletionTimestamp).NotTo(BeNil())
			} else {
				Expect(pod.Status.Phase).To(Equal(corev1.PodPending))
			}
		}

		cp.ResumePods(namespace)
		Eventually(podsOf).WithArguments(ctx, namespace).Should(HaveLen(1))
		Eventually(readyReplicas(ctx, web)).Should(BeEquivalentTo(1))
	})

	It("lists the Pods of a Service in its Endpoints", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		Expect(cp.Client.Create(ctx, deployment(namespace, "web", 2))).To(Succeed())
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
		service.Spec = corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Port: 80}}}
		Expect(cp.Client.Create(ctx, service)).To(Succeed())
		endpoints := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Endpoints"}}
		Eventually(func(g Gomega) {
			g.Expect(cp.Client.Get(ctx, client.ObjectKeyFromObject(service), endpoints)).To(Succeed())
			subsets, _, _ := unstructured.NestedSlice(endpoints.Object, "subsets")
			g.Expect(subsets).To(ConsistOf(HaveKeyWithValue("addresses", HaveLen(2))))
		}).Should(Succeed())
	})

	It("rejects unknown fields", func(ctx SpecContext) {
		misspelt := widget(newNamespace(ctx), "misspelt")
		misspelt.Object["spec"] = map[string]any{"sise": int64(1)}
		Expect(cp.Client.Create(ctx, misspelt)).To(MatchError(ContainSubstring(`unknown field "spec.sise"`)))
	})

	It("retries 400 failed Deployments within seconds", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		quota := limit(ctx, namespace, "count/replicasets.apps", "0")
		for i := range 400 {
			Expect(cp.Client.Create(ctx, deployment(namespace, fmt.Sprintf("failing-%d", i), 0))).To(Succeed())
		}
		deployments := func(g Gomega) []appsv1.Deployment {
			var list appsv1.DeploymentList
			g.Expect(cp.Client.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
			return list.Items
		}
		failed := HaveField("Status.Conditions", ContainElement(HaveField("Reason", "ReplicaSetCreateError")))
		Eventually(deployments).WithTimeout(4 * timeout).WithPolling(250 * time.Millisecond).Should(HaveEach(failed))

		Expect(cp.Client.Delete(ctx, quota)).To(Succeed())
		began := time.Now()
		// Without the resync, this takes longer even on a fast machine, because only ten Deployments are retried per second.
		Eventually(deployments).WithTimeout(2 * timeout).WithPolling(250 * time.Millisecond).ShouldNot(ContainElement(failed))
		AddReportEntry("400 failed Deployments retried within", time.Since(began).String())
	})
})

func limit(ctx SpecContext, namespace string, name corev1.ResourceName, most string) *corev1.ResourceQuota {
	GinkgoHelper()
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "limit"}}
	quota.Spec.Hard = corev1.ResourceList{name: resource.MustParse(most)}
	Expect(cp.Client.Create(ctx, quota)).To(Succeed())
	Eventually(func(g Gomega) {
		g.Expect(cp.Client.Get(ctx, client.ObjectKeyFromObject(quota), quota)).To(Succeed())
		g.Expect(quota.Status.Hard).NotTo(BeEmpty())
	}).Should(Succeed())
	return quota
}
