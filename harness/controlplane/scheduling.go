package controlplane

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// schedule binds a Pod to the first Node that matches its nodeSelector and node affinity, or to the first one if none
// does.
func (n *fakeNodes) schedule(ctx context.Context, pod *corev1.Pod) error {
	chosen, wanted := n.nodes[0], nodeaffinity.GetRequiredNodeAffinity(pod)
	for _, node := range n.nodes {
		if matches, err := wanted.Match(node); matches && err == nil {
			chosen = node
			break
		}
	}
	return n.clientset.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: chosen.Name},
	}, metav1.CreateOptions{})
}
