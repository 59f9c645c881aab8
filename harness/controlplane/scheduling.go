package controlplane

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// schedule binds a Pod to a Node, like the scheduler. The informer then delivers the bound Pod.
func (n *fakeNodes) schedule(ctx context.Context, pod *corev1.Pod) error {
	nodes, terms := n.matching(pod), spreadTerms(pod)
	if len(terms) > 0 {
		n.spreading.Lock()
		defer n.spreading.Unlock()
		others, err := n.clientset.CoreV1().Pods(pod.Namespace).List(ctx, metav1.ListOptions{}) // the cache may not contain the most recently bound Pod
		if err != nil {
			return err
		}
		against := map[string]int{} // the weight of the conflicting Pods on each Node
		for _, other := range others.Items {
			if other.Status.Phase != corev1.PodSucceeded && other.Status.Phase != corev1.PodFailed {
				against[other.Spec.NodeName] += weightOf(terms, other.Labels)
			}
		}
		slices.SortStableFunc(nodes, func(a, b *corev1.Node) int { return cmp.Compare(against[a.Name], against[b.Name]) })
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

// spreadTerm selects Pods that should not run on the same Node as a given Pod. Terms with a higher weight take
// precedence.
type spreadTerm struct {
	labels.Selector
	weight int
}

// spreadTerms returns the terms for a Pod's anti-affinity and topology spread constraints. Each Node is a separate
// topology domain, regardless of the topology key.
func spreadTerms(pod *corev1.Pod) (terms []spreadTerm) {
	const required = 1 << 20 // more than the sum of all preferred weights
	add := func(pods *metav1.LabelSelector, weight int) {
		if selector, err := metav1.LabelSelectorAsSelector(pods); err == nil {
			terms = append(terms, spreadTerm{selector, weight})
		}
	}
	if affinity := pod.Spec.Affinity; affinity != nil && affinity.PodAntiAffinity != nil {
		for _, term := range affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			add(term.LabelSelector, required)
		}
		for _, term := range affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			add(term.PodAffinityTerm.LabelSelector, int(term.Weight))
		}
	}
	for _, constraint := range pod.Spec.TopologySpreadConstraints {
		if constraint.WhenUnsatisfiable == corev1.DoNotSchedule {
			add(constraint.LabelSelector, required)
		} else {
			add(constraint.LabelSelector, 1)
		}
	}
	return terms
}

func weightOf(terms []spreadTerm, pod labels.Set) int {
	sum := 0
	for _, term := range terms {
		if term.Matches(pod) {
			sum += term.weight
		}
	}
	return sum
}
