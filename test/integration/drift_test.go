package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/operator/api/workload"
)

// otherManager is the field owner of changes that other clients make.
const otherManager = client.FieldOwner("kubectl-edit")

var _ = Describe("Drift", func() {
	It("is reported as Rejected if the container became an init container, until the Deployment is deleted", func(ctx SpecContext) {
		cache := serving(ctx, newMemcached(newNamespace(ctx), "cache", 0), 0)
		deployment := deploymentOf(ctx, cache)
		edit(ctx, deployment, func() {
			pod := &deployment.Spec.Template.Spec
			moved := pod.Containers[0]
			pod.Containers[0].Name = "other"
			moved.Lifecycle, moved.ReadinessProbe = nil, nil // an init container cannot have these fields
			pod.InitContainers = append(pod.InitContainers, moved)
		})
		waitFor(ctx, current(cache), beDegraded(workload.ReasonRejected, "the Deployment cannot be written", `Duplicate value: "memcached"`))

		Expect(plane.Client.Delete(ctx, deployment)).To(Succeed())
		waitFor(ctx, func(ctx context.Context) (*appsv1.Deployment, error) {
			again := newDeployment(cache)
			return again, client.IgnoreNotFound(plane.Client.Get(ctx, client.ObjectKeyFromObject(again), again))
		}, HaveField("Spec.Template.Spec.Containers", ConsistOf(HaveField("Name", "memcached"))))
		waitFor(ctx, current(cache), beReady(0))
	})

	It("is repaired after kubectl scale", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		cache := serving(ctx, newMemcached(namespace, "cache", 2), 2)

		scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 5}}
		Expect(plane.Client.SubResource("scale").Update(ctx, deploymentOf(ctx, cache), client.WithSubResourceBody(scale))).To(Succeed())
		waitFor(ctx, eventsIn(namespace), haveEvent("Normal", "Repaired", "Deployment cache", "spec.replicas: 5 → 2"))
		waitFor(ctx, current(cache), beReady(2))
	})

	It("is repaired after another client applies the operator's fields with force", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		cache := serving(ctx, newMemcached(namespace, "cache", 1), 1)

		applyAsOtherManager(ctx, `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "cache"}, "spec": {"replicas": 4}}`, namespace)
		waitFor(ctx, eventsIn(namespace), haveEvent("Normal", "Repaired", "Deployment cache", "spec.replicas: 4 → 1"))
		waitFor(ctx, current(cache), beReady(1))
	})
})

func serviceOf(ctx context.Context, web client.Object) *corev1.Service {
	GinkgoHelper()
	service := newService(web)
	Expect(plane.Client.Get(ctx, client.ObjectKeyFromObject(service), service)).To(Succeed())
	return service
}

func newService(web client.Object) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: web.GetNamespace(), Name: web.GetName() + "-service"}}
}

func newDeployment(resource client.Object) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: resource.GetNamespace(), Name: resource.GetName()}}
}

// managersOf returns a function that lists an object's field managers and their operations. It ignores the status.
func managersOf(object client.Object) func(context.Context) ([]string, error) {
	return func(ctx context.Context) ([]string, error) {
		var managers []string
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		for _, entry := range object.GetManagedFields() {
			if entry.Subresource == "" {
				managers = append(managers, entry.Manager+" "+string(entry.Operation))
			}
		}
		return managers, err
	}
}
