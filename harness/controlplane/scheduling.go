package controlplane

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// schedule binds a Pod to a Node, as the scheduler would. The informer then delivers the bound Pod.
func (n *fakeNodes) schedule(ctx context.Context, pod *corev1.Pod) error {
	nodes := n.matching(pod)
	if owner := metav1.GetControllerOf(pod); owner != nil && wantsSpreading(pod) {
		n.spreading.Lock()
		defer n.spreading.Unlock()
		others, err := n.clientset.CoreV1().Pods(pod.Namespace).List(ctx, metav1.ListOptions{}) // the cache may not contain the most recently bound Pod
		if err != nil {
			return err
		}
		siblings := map[string]int{} // by Node
		for _, other := range others.Items {
			if metav1.IsControlledBy(&other, &metav1.ObjectMeta{UID: owner.UID}) {
				siblings[other.Spec.NodeName]++
			}
		}
		slices.SortStableFunc(nodes, func(a, b *corev1.Node) int { return cmp.Compare(siblings[a.Name], siblings[b.Name]) })
	}
	return n.clientset.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: nodes[0].Name},
	}, metav1.CreateOptions{})
}

// matching returns the Nodes that match the Pod's nodeSelector and node affinity, or all Nodes if none match.
func (n *fakeNodes) matching(pod *corev1.Pod) []*corev1.Node {
	chosen := nodeaffinity.GetRequiredNodeAffinity(pod)
	matching := slices.DeleteFunc(slices.Clone(n.nodes), func(node *corev1.Node) bool {
		matches, err := chosen.Match(node)
		return !matches || err != nil
	})
	if len(matching) == 0 {
		return slices.Clone(n.nodes)
	}
	return matching
}

func wantsSpreading(pod *corev1.Pod) bool {
	affinity := pod.Spec.Affinity
	return affinity != nil && affinity.PodAntiAffinity != nil || len(pod.Spec.TopologySpreadConstraints) > 0
}
