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
		It("of "+c.Kind+" has the fields that an autoscaler needs", func(ctx SpecContext) {
			scaled := serving(ctx, c.valid(newNamespace(ctx), "scaled", 2), 2)
			seen := scaleOf(ctx, scaled)
			Expect(seen.Spec.Replicas).To(BeEquivalentTo(2))
			Expect(seen.Status.Replicas).To(BeEquivalentTo(2))

			for _, replicas := range []int32{3, 0} {
				scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
				Expect(plane.Client.SubResource("scale").Update(ctx, scaled, client.WithSubResourceBody(scale))).To(Succeed())
				waitFor(ctx, current(scaled), beReady(replicas))
			}
			Expect(scaleOf(ctx, scaled).Status.Replicas).To(BeZero())
		})

		It("of "+c.Kind+" selects only the resource's Pods", func(ctx SpecContext) {
			namespace := newNamespace(ctx)
			scaled := c.valid(namespace, "web", 2)
			others := []workloadObject{
				c.valid(namespace, "web-2", 2),                  // its name begins with the name of the scaled resource
				newWebServer(namespace, "other", 1),             // a resource of the first kind
				newMemcached(namespace, "another", 1),           // a resource of the second kind
				c.valid(newNamespace(ctx), scaled.GetName(), 1), // the same name in another namespace
			}
			create(ctx, scaled)
			for _, other := range others {
				create(ctx, other)
			}
			for resource, pods := range map[workloadObject]int32{scaled: 2, others[0]: 2, others[1]: 1, others[2]: 1, others[3]: 1} {
				waitFor(ctx, current(resource), beReady(pods))
			}
			selector, err := labels.Parse(scaleOf(ctx, scaled).Status.Selector)
			Expect(err).NotTo(HaveOccurred())
			Expect(podsIn(namespace, client.MatchingLabelsSelector{Selector: selector})(ctx)).To(Equal(scaled.CommonStatus().Nodes))
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
