package controlplane_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ = Describe("The fake nodes", func() {
	nodesOf := func(ctx SpecContext, namespace string) func() []string {
		return func() (nodes []string) {
			for _, pod := range podsOf(ctx, namespace) {
				if pod.Status.Phase == corev1.PodRunning {
					nodes = append(nodes, pod.Spec.NodeName)
				}
			}
			return nodes
		}
	}
	all := []string{"fake-node-1", "fake-node-2", "fake-node-3"}

	It("are ready and in different zones", func(ctx SpecContext) {
		var nodes corev1.NodeList
		Expect(cp.Client.List(ctx, &nodes)).To(Succeed())
		var names, zones []string
		for _, node := range nodes.Items {
			names, zones = append(names, node.Labels[corev1.LabelHostname]), append(zones, node.Labels[corev1.LabelTopologyZone])
			Expect(node.Spec.Taints).To(BeEmpty())
			Expect(node.Status.Conditions).To(ContainElement(And(
				HaveField("Type", corev1.NodeReady), HaveField("Status", corev1.ConditionTrue))))
		}
		Expect(names).To(Equal(all))
		Expect(zones).To(Equal([]string{"zone-1", "zone-2", "zone-3"}))
	})

	It("run a Pod of each DaemonSet and honor node selectors", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		template := deployment(namespace, "agent", 0).Spec.Template
		template.Spec.NodeSelector = map[string]string{corev1.LabelOSStable: "linux"}
		agent := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "agent"}}
		agent.Spec.Selector, agent.Spec.Template = &metav1.LabelSelector{MatchLabels: template.Labels}, template
		Expect(cp.Client.Create(ctx, agent)).To(Succeed())
		Eventually(nodesOf(ctx, namespace)).Should(ConsistOf(all))

		chosen := newPod(newNamespace(ctx), nil)
		chosen.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "zone-2"}
		Expect(cp.Client.Create(ctx, chosen)).To(Succeed())
		nowhere := newPod(chosen.Namespace, nil)
		nowhere.Spec.NodeSelector = map[string]string{"disk": "fast"}
		Expect(cp.Client.Create(ctx, nowhere)).To(Succeed())
		Eventually(nodesOf(ctx, chosen.Namespace)).Should(ConsistOf(all[1], all[0]))
	})
})
