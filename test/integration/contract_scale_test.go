package integration

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// autoscaler is a ClusterRole with the permissions of an autoscaler. It grants access to the scale subresource, but not
// to the resource itself.
const autoscaler = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: autoscaler
rules:
- apiGroups: [my.domain]
  resources: [webservers/scale]
  verbs: [get, update, patch]
- apiGroups: [cache.example.com]
  resources: [memcacheds/scale]
  verbs: [get, update, patch]
`

var _ = Describe("The scale subresource", func() {
	for _, c := range contracts {
		It("of "+c.Kind+" has the fields that an autoscaler needs", func(ctx SpecContext) {
			namespace := newNamespace(ctx)
			scaled := serving(ctx, c.valid(namespace, "scaled", 2), 2)
			scales := newScaler(ctx).Scales(namespace)
			resource := schema.GroupResource{Group: c.Group, Resource: c.Plural()}

			seen, err := scales.Get(ctx, resource, "scaled", metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			Expect(seen.Spec.Replicas).To(BeEquivalentTo(2))
			Expect(seen.Status.Replicas).To(BeEquivalentTo(2))

			seen.Spec.Replicas = 3
			_, err = scales.Update(ctx, resource, seen, metav1.UpdateOptions{})
			Expect(err).NotTo(HaveOccurred())
			waitFor(ctx, current(scaled), beReady(3))

			patch := []byte(`{"spec":{"replicas":0}}`)
			_, err = scales.Patch(ctx, c.GroupVersion().WithResource(c.Plural()), "scaled", types.MergePatchType, patch, metav1.PatchOptions{})
			Expect(err).NotTo(HaveOccurred())
			waitFor(ctx, current(scaled), beReady(0))
			waitFor(ctx, podsIn(namespace), BeEmpty())
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

		It("of "+c.Kind+" rejects a value that the resource rejects", func(ctx SpecContext) {
			scaled := serving(ctx, c.valid(newNamespace(ctx), "scaled", 1), 1)
			version, patch := scaled.GetResourceVersion(), client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":-1}}`))
			expectRefusal(plane.Client.SubResource("scale").Patch(ctx, scaled, patch), []string{"spec." + c.Replicas, "greater than or equal to 0"})
			Expect(current(scaled)(ctx)).To(HaveField("GetResourceVersion()", version))
		})
	}
})

// newScaler returns the scale client that the HorizontalPodAutoscaler controller uses.
func newScaler(ctx context.Context) scale.ScalesGetter {
	GinkgoHelper()
	user, err := plane.User(ctx, "autoscaler", []byte(autoscaler))
	Expect(err).NotTo(HaveOccurred())
	kinds, err := discovery.NewDiscoveryClientForConfig(user)
	Expect(err).NotTo(HaveOccurred())
	scaler, err := scale.NewForConfig(user, plane.Client.RESTMapper(), dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(kinds))
	Expect(err).NotTo(HaveOccurred())
	return scaler
}

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
