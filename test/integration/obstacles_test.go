package integration

import (
	"context"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/api/workload"
)

var _ = Describe("A quota", func() {
	It("of Pods is reported with its limit, and the running Pods keep serving", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		quota := newQuota(ctx, namespace, corev1.ResourcePods, "1")
		cache := newMemcached(namespace, "cache", 2)
		create(ctx, cache)
		waitFor(ctx, current(cache), And(
			beDegraded(workload.ReasonPodCreationFailed, "exceeded quota: quota", "limited: pods=1"),
			haveCondition(workload.Available, "True", workload.ReasonPodsReady)))
		Expect(cache.Status.ReadyReplicas).To(BeEquivalentTo(1))
		waitFor(ctx, eventsIn(namespace), haveEvent("Warning", workload.ReasonPodCreationFailed, "exceeded quota"))

		Expect(plane.Client.Delete(ctx, quota)).To(Succeed())
		waitFor(ctx, current(cache), beReady(2))
		waitFor(ctx, eventsIn(namespace), haveEvent("Normal", "Recovered", "recovered from PodCreationFailed"))
	})

	It("of Deployments blocks the Deployment but not the Service", SpecPriority(1), func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		quota := newQuota(ctx, namespace, "count/deployments.apps", "0")
		web := newWebServer(namespace, "web", 1)
		create(ctx, web)
		waitFor(ctx, current(web), And(
			beDegraded(workload.ReasonRejected, "the Deployment cannot be written", "exceeded quota: quota"),
			haveCondition(workload.Available, "False", workload.ReasonNoPodReady),
			haveCondition(workload.Progressing, "False", workload.ReasonBlocked),
			HaveField("Status.NodePort", Not(BeZero()))))
		waitFor(ctx, eventsIn(namespace), haveEvent("Warning", workload.ReasonRejected, "exceeded quota"))
		tries := func() int {
			return len(assay.Requests.Requests(record.InNamespace(namespace), func(r record.Request) bool {
				return r.Verb == "apply" && r.Resource == "deployments"
			}))
		}
		Eventually(tries).WithContext(ctx).Should(BeNumerically(">", 2), "number of creations")

		Expect(plane.Client.Delete(ctx, quota)).To(Succeed())
		waitFor(ctx, current(web), beReady(1))
		waitFor(ctx, eventsIn(namespace), haveEvent("Normal", "Recovered", "recovered from Rejected"))
	})
})

var _ = Describe("An unlabelled Deployment", func() {
	It("that cannot be read keeps its Pods in the status", func(ctx SpecContext) {
		web := serving(ctx, newWebServer(newNamespace(ctx), "web", 3), 3)
		named, namespace := web.Status.Nodes, web.Namespace // copied because reading web overwrites it

		var reads atomic.Int32
		admit := assay.Refuse(func(r record.Request) bool {
			refused := r.Namespace == namespace && r.Verb == "get" && r.Resource == "deployments"
			if refused {
				reads.Add(1)
			}
			return refused
		})
		DeferCleanup(admit)
		deployment := deploymentOf(ctx, web)
		edit(ctx, deployment, func() { deployment.Labels = nil }) // the operator's cache selects by label
		Eventually(reads.Load).WithContext(ctx).Should(BeNumerically(">", 1), "number of reads")
		Expect(current(web)(ctx)).To(And(haveCondition(workload.Available, "True", workload.ReasonPodsReady), HaveField("Status.Nodes", named)))
		admit()
		waitFor(ctx, current(web), beReady(*web.Spec.Replicas))
		waitFor(ctx, func(ctx context.Context) (*appsv1.Deployment, error) { return deploymentOf(ctx, web), nil }, HaveField("Labels", HaveLen(3)))
	})
})

var _ = Describe("A failing Pod", func() {
	var (
		cache workloadObject
		pods  []string
	)
	BeforeEach(func(ctx SpecContext) {
		cache = newMemcached(newNamespace(ctx), "cache", 2)
		plane.PausePods(cache.GetNamespace())
		DeferCleanup(plane.ResumePods, cache.GetNamespace())
		create(ctx, cache)
		waitFor(ctx, func(ctx context.Context) (_ []string, err error) {
			pods, err = podsIn(cache.GetNamespace())(ctx)
			return pods, err
		}, HaveLen(2))
	})

	DescribeTable("is reported with its cause until it recovers from",
		func(ctx SpecContext, reason, message, says string) {
			kubeletSays(ctx, cache, pods[0], reason, message)
			waitFor(ctx, current(cache), And(
				beDegraded(workload.ReasonPodsFailing, "Pod "+pods[0]+": "+reason, says),
				haveCondition(workload.Available, "False", workload.ReasonNoPodReady)))
			waitFor(ctx, eventsIn(cache.GetNamespace()), haveEvent("Warning", workload.ReasonPodsFailing, reason))

			plane.ResumePods(cache.GetNamespace())
			waitFor(ctx, current(cache), beReady(2))
			waitFor(ctx, eventsIn(cache.GetNamespace()), haveEvent("Normal", "Recovered", "recovered from PodsFailing"))
		},
		Entry("an image that cannot be pulled", "ImagePullBackOff", `Back-off pulling image "memcached:none": ErrImagePull: manifest unknown`, "image memcached:none cannot be pulled: manifest unknown"),
		Entry("a container that crashes", "CrashLoopBackOff", "back-off 10s restarting failed container=memcached", "back-off 10s restarting"),
	)
})

// newQuota creates a ResourceQuota and waits until the quota controller enforces it.
func newQuota(ctx context.Context, namespace string, name corev1.ResourceName, hard string) *corev1.ResourceQuota {
	GinkgoHelper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "quota"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{name: resource.MustParse(hard)}},
	}
	create(ctx, quota)
	waitFor(ctx, func(ctx context.Context) (corev1.ResourceList, error) {
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(quota), quota)
		return quota.Status.Used, err
	}, HaveKey(name))
	return quota
}

// kubeletSays sets the waiting state of a Pod's container to the given reason and message.
func kubeletSays(ctx context.Context, of client.Object, name, reason, message string) {
	GinkgoHelper()
	pod := &corev1.Pod{}
	Expect(plane.Client.Get(ctx, client.ObjectKey{Namespace: of.GetNamespace(), Name: name}, pod)).To(Succeed())
	before := pod.DeepCopy()
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "memcached", Image: "memcached:none", State: waiting}}
	Expect(plane.Client.Status().Patch(ctx, pod, client.StrategicMergeFrom(before))).To(Succeed())
}
