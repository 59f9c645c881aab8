package integration

import (
	"context"
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	memcachedv1alpha1 "github.com/operator-assay/assay/operator/api/memcached/v1alpha1"
)

var _ = Describe("A Pod that is not named in status.nodes", func() {
	var (
		cache *memcachedv1alpha1.Memcached
		named []string
	)
	BeforeEach(func(ctx SpecContext) {
		cache = serving(ctx, newMemcached(newNamespace(ctx), "cache", 2), 2)
		named = cache.Status.Nodes
	})
	labels := func(ctx context.Context) map[string]string { return deploymentOf(ctx, cache).Spec.Selector.MatchLabels }
	stay := func(ctx context.Context) {
		GinkgoHelper()
		Consistently(current(cache)).WithContext(ctx).Should(And(beReady(2), HaveField("Status.Nodes", named)))
	}

	It("has the operator's labels but no owner", func(ctx SpecContext) {
		stray := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: cache.Namespace, Name: "cache-stray", Labels: labels(ctx)},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "stray", Image: "stray:1"}}},
		}
		create(ctx, stray)
		stay(ctx)
	})

	It("has the operator's labels but belongs to another ReplicaSet", func(ctx SpecContext) {
		theirs := map[string]string{"app": "stranger"}
		both := maps.Clone(theirs)
		maps.Copy(both, labels(ctx))
		set := &appsv1.ReplicaSet{ // has no labels of the Deployment, so that the Deployment does not adopt it
			ObjectMeta: metav1.ObjectMeta{Namespace: cache.Namespace, Name: "stranger", Labels: theirs},
			Spec: appsv1.ReplicaSetSpec{
				Selector: &metav1.LabelSelector{MatchLabels: theirs},
				Template: corev1.PodTemplateSpec{
					ObjectMeta: metav1.ObjectMeta{Labels: both},
					Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "stranger", Image: "stranger:1"}}},
				},
			},
		}
		create(ctx, set)
		waitFor(ctx, podsIn(cache.Namespace, client.MatchingLabels(both)), HaveLen(1))
		stay(ctx)
	})

	It("is being deleted, and its replacement is named", func(ctx SpecContext) {
		plane.PausePods(cache.Namespace)
		DeferCleanup(plane.ResumePods, cache.Namespace)
		leaving := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: cache.Namespace, Name: named[0]}}
		Expect(plane.Client.Delete(ctx, leaving)).To(Succeed())
		waitFor(ctx, current(cache), And(
			HaveField("Status.Nodes", And(HaveLen(2), Not(ContainElement(named[0])), ContainElement(named[1]))),
			HaveField("Status.ReadyReplicas", BeEquivalentTo(1))))
		Expect(plane.Client.Get(ctx, client.ObjectKeyFromObject(leaving), leaving)).To(Succeed(), "the Pod that is being deleted")
		plane.ResumePods(cache.Namespace)
		waitFor(ctx, current(cache), beReady(2))
	})

	DescribeTable("has finished, and its replacement is named",
		func(ctx SpecContext, phase corev1.PodPhase) {
			finished := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: cache.Namespace, Name: named[0]}}
			patch := client.RawPatch(types.MergePatchType, []byte(`{"status": {"phase": "`+phase+`"}}`))
			Expect(plane.Client.Status().Patch(ctx, finished, patch)).To(Succeed())
			waitFor(ctx, current(cache), And(
				beReady(2), HaveField("Status.Nodes", And(Not(ContainElement(named[0])), ContainElement(named[1])))))
		},
		Entry("by failing", corev1.PodFailed),
		Entry("by succeeding", corev1.PodSucceeded),
	)
})
