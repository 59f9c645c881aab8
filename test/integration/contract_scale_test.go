package integration

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("The scale subresource", func() {
	for _, c := range contracts {
		It("of "+c.Kind+" has the fields that an autoscaler needs, and selects only the resource's Pods", func(ctx SpecContext) {
			namespace := newNamespace(ctx)
			scaled := c.valid(namespace, "scaled", 2)
			// scaled-2 has a similar name, but the selector must not match its Pods.
			create(ctx, scaled, c.valid(namespace, "scaled-2", 1), newWebServer(namespace, "web", 1), newMemcached(namespace, "cache", 1))
			waitFor(ctx, current(scaled), beReady(2))
			waitFor(ctx, podsIn(namespace), HaveLen(5))
			seen := scaleOf(ctx, scaled)
			Expect(seen.Spec.Replicas).To(BeEquivalentTo(2))
			Expect(seen.Status.Replicas).To(BeEquivalentTo(2))
			selector, err := labels.Parse(seen.Status.Selector)
			Expect(err).NotTo(HaveOccurred())
			Expect(podsIn(namespace, client.MatchingLabelsSelector{Selector: selector})(ctx)).To(Equal(scaled.CommonStatus().Nodes))

			for _, replicas := range []int32{3, 0} {
				scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
				Expect(plane.Client.SubResource("scale").Update(ctx, scaled, client.WithSubResourceBody(scale))).To(Succeed())
				waitFor(ctx, current(scaled), beReady(replicas))
			}
			Expect(scaleOf(ctx, scaled).Status.Replicas).To(BeZero())
		})
	}
})

func scaleOf(ctx context.Context, resource client.Object) *autoscalingv1.Scale {
	GinkgoHelper()
	read := &autoscalingv1.Scale{}
	Expect(plane.Client.SubResource("scale").Get(ctx, resource, read)).To(Succeed())
	return read
}

// podsIn returns a function that lists the names of the Pods in a namespace, sorted.
func podsIn(namespace string, options ...client.ListOption) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		pods := &corev1.PodList{}
		err := plane.Client.List(ctx, pods, append(options, client.InNamespace(namespace))...)
		var names []string
		for _, pod := range pods.Items {
			names = append(names, pod.Name)
		}
		slices.Sort(names)
		return names, err
	}
}
