package integration

import (
	"context"
	"fmt"
	"math/bits"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/api/workload"
)

var _ = Describe("An autoscaler of the Deployment instead of the resource", func() {
	It("makes the resource Contested, and the operator writes rarely", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		cache := serving(ctx, newMemcached(namespace, "cache", 1), 1)
		create(ctx, &autoscalingv1.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cache"},
			Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
				ScaleTargetRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "cache"},
				MinReplicas:    new(int32(3)),
				MaxReplicas:    5,
			},
		})
		waitWithin(ctx, 4*timeout, current(cache), beDegraded(workload.ReasonContested, `another client keeps changing or deleting Deployment "cache"`))
		Expect(assay.Requests.WaitIdle(ctx, stableFor, record.InNamespace(namespace))).To(Succeed())
	})
})

// manyEdits is more than the number of consecutive repairs that the operator allows without a delay.
const manyEdits = 15

var _ = Describe("A field that an admission policy changes", func() {
	It("is not repaired again after each event, and the resource is Contested", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		policy := &admissionv1.MutatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: namespace},
			Spec: admissionv1.MutatingAdmissionPolicySpec{
				ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
				MatchConstraints: &admissionv1.MatchResources{
					NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
					ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
						Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
						Rule:       admissionv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
					}}},
				},
				Mutations: []admissionv1.Mutation{{
					PatchType: admissionv1.PatchTypeJSONPatch,
					JSONPatch: &admissionv1.JSONPatch{Expression: `[JSONPatch{op: "replace", path: "/spec/replicas", value: 2}]`},
				}},
			},
		}
		err := plane.Client.Create(ctx, policy)
		if apimeta.IsNoMatchError(err) {
			Skip("this Kubernetes has no MutatingAdmissionPolicy v1")
		}
		Expect(err).NotTo(HaveOccurred())
		binding := &admissionv1.MutatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: namespace},
			Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: namespace},
		}
		create(ctx, binding)
		DeferCleanup(func(ctx SpecContext) {
			Expect(plane.Client.Delete(ctx, binding)).To(Succeed())
			Expect(plane.Client.Delete(ctx, policy)).To(Succeed())
		})
		mutated := func(ctx context.Context) (int32, error) {
			probe := impostorAt(newWebServer(namespace, "probe", 0), "Deployment").(*appsv1.Deployment)
			err := plane.Client.Create(ctx, probe, client.DryRunAll)
			return *probe.Spec.Replicas, err
		}
		Eventually(mutated).WithContext(ctx).Should(BeEquivalentTo(2), "replicas of a dry-run Deployment")

		cache := newMemcached(namespace, "cache", 1)
		begin := time.Now()
		create(ctx, cache)
		waitFor(ctx, current(cache), beDegraded(workload.ReasonContested, `Deployment "cache" differs from the applied fields`, "admission policy"))
		applied := func() int {
			return len(childWrites(namespace).Filter(func(r record.Request) bool { return r.Status == 200 }))
		}
		before := applied()
		deployment := deploymentOf(ctx, cache)
		for i := range manyEdits { // each edit triggers a reconcile
			edit(ctx, deployment, func() { deployment.Annotations["example.com/edit"] = fmt.Sprint(i) })
		}
		Expect(assay.Requests.WaitIdle(ctx, stableFor/4, record.InNamespace(namespace))).To(Succeed())
		writes := applied() - before
		retries := bits.Len(uint(time.Since(begin).Seconds())+1) - 1 // they follow 1, 3, 7, … seconds after the first write
		Expect(writes).To(BeNumerically("<=", retries), "writes after %d edits", manyEdits)
		Expect(eventsIn(namespace)(ctx)).NotTo(Or(haveEvent("Normal", "Repaired"), haveEvent("Normal", "Updated")),
			"Events of writes that the policy has undone")
	})
})
