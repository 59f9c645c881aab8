package controlplane_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/record"
)

var _ = Describe("The control plane", func() {
	It("runs StatefulSets with bound claims, rolling updates and claim protection", func(ctx SpecContext) {
		set := statefulSet(newNamespace(ctx))
		Expect(cp.Client.Create(ctx, set)).To(Succeed())
		Eventually(func(g Gomega) int32 {
			g.Expect(cp.Client.Get(ctx, client.ObjectKeyFromObject(set), set)).To(Succeed())
			return set.Status.ReadyReplicas
		}).Should(BeEquivalentTo(2))
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: "data-db-0"}}
		Eventually(func(g Gomega) {
			g.Expect(cp.Client.Get(ctx, client.ObjectKeyFromObject(claim), claim)).To(Succeed())
			g.Expect(claim.Status.Phase).To(Equal(corev1.ClaimBound))
		}).Should(Succeed())
		Expect(claim.Spec.VolumeName).To(Equal("pvc-" + string(claim.UID)))
		Expect(claim.Status.Capacity.Storage().String()).To(Equal("1Gi"))

		before := set.DeepCopy()
		set.Spec.Template.Spec.Containers[0].Image = "example.com/main:v2"
		Expect(cp.Client.Patch(ctx, set, client.MergeFrom(before))).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(cp.Client.Get(ctx, client.ObjectKeyFromObject(set), set)).To(Succeed())
			g.Expect(set.Status.ObservedGeneration).To(Equal(set.Generation))
			g.Expect(set.Status.UpdatedReplicas).To(BeEquivalentTo(2))
			g.Expect(set.Status.CurrentRevision).To(Equal(set.Status.UpdateRevision))
		}).Should(Succeed())

		Expect(cp.Client.Delete(ctx, claim)).To(Succeed())
		Expect(cp.Client.Get(ctx, client.ObjectKeyFromObject(claim), claim)).To(Succeed(), "the claim is protected while the Pod uses it")
		Expect(cp.Client.Delete(ctx, set)).To(Succeed())
		Eventually(func() bool {
			return apierrors.IsNotFound(cp.Client.Get(ctx, client.ObjectKeyFromObject(claim), claim))
		}).Should(BeTrue())
	})

	It("runs Jobs, which succeed unless an annotation makes them fail", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		create := func(name string, annotations map[string]string) *batchv1.Job {
			GinkgoHelper()
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
			job.Spec.BackoffLimit = ptr.To[int32](0)
			job.Spec.Template = deployment(namespace, name, 0).Spec.Template
			job.Spec.Template.Annotations = annotations
			job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			Expect(cp.Client.Create(ctx, job)).To(Succeed())
			return job
		}
		for job, want := range map[*batchv1.Job]batchv1.JobConditionType{
			create("succeeds", nil): batchv1.JobComplete,
			create("fails", map[string]string{controlplane.FailAnnotation: "true"}): batchv1.JobFailed,
		} {
			Eventually(func(g Gomega) []batchv1.JobCondition {
				g.Expect(cp.Client.Get(ctx, client.ObjectKeyFromObject(job), job)).To(Succeed())
				return job.Status.Conditions
			}).Should(ContainElement(And(HaveField("Type", want), HaveField("Status", corev1.ConditionTrue))))
		}
	})

	It("assigns an address to a load balancer", func(ctx SpecContext) {
		balancer := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: newNamespace(ctx), Name: "balancer"}}
		balancer.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}}
		Expect(cp.Client.Create(ctx, balancer)).To(Succeed())
		Eventually(func(g Gomega) []corev1.LoadBalancerIngress {
			g.Expect(cp.Client.Get(ctx, client.ObjectKeyFromObject(balancer), balancer)).To(Succeed())
			return balancer.Status.LoadBalancer.Ingress
		}).Should(ConsistOf(HaveField("IP", HavePrefix("198.18."))))
	})

	It("limits evictions with a PodDisruptionBudget", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		web := deployment(namespace, "web", 3)
		Expect(cp.Client.Create(ctx, web)).To(Succeed())
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
		budget.Spec = policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(2)), Selector: web.Spec.Selector}
		Expect(cp.Client.Create(ctx, budget)).To(Succeed())
		Eventually(func(g Gomega) policyv1.PodDisruptionBudgetStatus {
			g.Expect(cp.Client.Get(ctx, client.ObjectKeyFromObject(budget), budget)).To(Succeed())
			return budget.Status
		}).Should(And(HaveField("ExpectedPods", int32(3)), HaveField("CurrentHealthy", int32(3)), HaveField("DesiredHealthy", int32(2)), HaveField("DisruptionsAllowed", int32(1))))

		cp.PausePods(namespace)
		DeferCleanup(cp.ResumePods, namespace)
		evict := func(pod corev1.Pod) error {
			return cp.Client.SubResource("eviction").Create(ctx, &pod, &policyv1.Eviction{})
		}
		pods := podsOf(ctx, namespace)
		Expect(evict(pods[0])).To(Succeed())
		Expect(apierrors.IsTooManyRequests(evict(pods[1]))).To(BeTrue())
	})

	It("enforces the bounds of an autoscaler without metrics", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		web := deployment(namespace, "web", 1)
		Expect(cp.Client.Create(ctx, web)).To(Succeed())
		scaler := &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
		scaler.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
			MinReplicas:    ptr.To[int32](3),
			MaxReplicas:    5,
			Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
				Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: ptr.To[int32](80)},
			}}},
		}
		Expect(cp.Client.Create(ctx, scaler)).To(Succeed())
		Eventually(readyReplicas(ctx, web)).Should(BeEquivalentTo(3))
		Eventually(func(g Gomega) []autoscalingv2.HorizontalPodAutoscalerCondition {
			g.Expect(cp.Client.Get(ctx, client.ObjectKeyFromObject(scaler), scaler)).To(Succeed())
			return scaler.Status.Conditions
		}).Should(ContainElement(And(HaveField("Type", autoscalingv2.ScalingActive), HaveField("Reason", "FailedGetResourceMetric"))))
		Expect(scaler.Status.CurrentReplicas).To(BeEquivalentTo(3))
		resources, err := record.NewResourceLister(cp.Config)
		Expect(err).NotTo(HaveOccurred())
		history, err := resources.History(ctx, cp.Client)
		Expect(err).NotTo(HaveOccurred())
		Expect(history.WaitStable(ctx, namespace, time.Second)).To(Succeed(), "repeated syncs of the autoscaler change nothing")
	})
})

func statefulSet(namespace string) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "db"}}
	same := deployment(namespace, "db", 2).Spec
	set.Spec = appsv1.StatefulSetSpec{
		Replicas: same.Replicas, Selector: same.Selector, Template: same.Template,
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}},
	}
	return set
}
