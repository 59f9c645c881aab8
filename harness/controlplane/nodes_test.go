package controlplane_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var _ = Describe("The fake nodes", func() {
	// nodesOf returns the Nodes of the running Pods. The key is the Pod's name, or its pattern if the name was
	// generated.
	nodesOf := func(ctx SpecContext, namespace string) func() map[string][]string {
		return func() map[string][]string {
			nodes := map[string][]string{}
			for _, pod := range podsOf(ctx, namespace) {
				if name := pod.Labels[appsv1.StatefulSetPodNameLabel]; pod.Status.Phase == corev1.PodRunning {
					nodes[name] = append(nodes[name], pod.Spec.NodeName)
				}
			}
			return nodes
		}
	}
	apart := []corev1.PodAffinityTerm{{
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}, TopologyKey: corev1.LabelHostname,
	}}
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

	It("spread Pods by topology and also run the fourth Pod", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		db := statefulSet(namespace)
		db.Spec.Replicas = new(int32(4))
		db.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: apart[0].LabelSelector,
		}}
		Expect(cp.Client.Create(ctx, db)).To(Succeed())
		Eventually(nodesOf(ctx, namespace)).Should(Equal(map[string][]string{
			"db-0": all[:1], "db-1": all[1:2], "db-2": all[2:], "db-3": all[:1]}))
	})

	It("spread Pods that are created at the same time", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		db := deployment(namespace, "db", 3)
		db.Spec.Template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: apart}}
		Expect(cp.Client.Create(ctx, db)).To(Succeed())
		Eventually(nodesOf(ctx, namespace)).Should(HaveKeyWithValue("", ConsistOf(all)))
	})

	It("run a Pod of each DaemonSet and honor node selectors", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		template := deployment(namespace, "agent", 0).Spec.Template
		template.Spec.NodeSelector = map[string]string{corev1.LabelOSStable: "linux"}
		agent := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "agent"}}
		agent.Spec.Selector, agent.Spec.Template = &metav1.LabelSelector{MatchLabels: template.Labels}, template
		Expect(cp.Client.Create(ctx, agent)).To(Succeed())
		Eventually(nodesOf(ctx, namespace)).Should(HaveKeyWithValue("", ConsistOf(all)))

		chosen := newPod(newNamespace(ctx), nil)
		chosen.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: "zone-2"}
		Expect(cp.Client.Create(ctx, chosen)).To(Succeed())
		nowhere := newPod(chosen.Namespace, nil)
		nowhere.Spec.NodeSelector = map[string]string{"disk": "fast"}
		Expect(cp.Client.Create(ctx, nowhere)).To(Succeed())
		Eventually(nodesOf(ctx, chosen.Namespace)).Should(HaveKeyWithValue("", ConsistOf(all[1], all[0])))
	})
})
