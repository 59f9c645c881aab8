package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/api/workload"
)

var _ = Describe("An object that has a child's name but another owner", func() {
	DescribeTable("is left unchanged and reported until it is deleted",
		func(ctx SpecContext, kind string, isLabelled bool) {
			namespace := newNamespace(ctx)
			web, model := newWebServer(namespace, "web", 0), newWebServer(namespace, "model", 0)
			serving(ctx, model, 0)
			stranger := impostorAt(web, kind)
			if isLabelled {
				labels := deploymentOf(ctx, model).Labels
				labels["app.kubernetes.io/instance"] = web.Name
				stranger.SetLabels(labels)
			}
			create(ctx, stranger)
			awaitController(ctx, stranger)

			create(ctx, web)
			words := []string{kind + ` "` + stranger.GetName() + `"`, "is not controlled by this WebServer", "delete it, or give this WebServer another name"}
			waitFor(ctx, current(web), And(
				beDegraded(workload.ReasonNotControlled, words...),
				haveCondition(workload.Progressing, "False", workload.ReasonBlocked)))
			waitFor(ctx, eventsIn(namespace), haveEvent("Warning", workload.ReasonNotControlled, words...))

			By("Waiting for the other child and for another resource")
			other := map[string]client.Object{"Deployment": newService(web), "Service": newDeployment(web)}[kind]
			waitFor(ctx, exists(other), BeTrue())
			Expect(metav1.IsControlledBy(other, web)).To(BeTrue())
			edit(ctx, model, func() { model.Spec.Replicas = ptr.To[int32](1) })
			waitFor(ctx, current(model), beReady(1))
			expectUntouched(ctx, stranger)

			By("Deleting the object")
			Expect(plane.Client.Delete(ctx, stranger)).To(Succeed())
			waitFor(ctx, current(web), beReady(0))
			waitFor(ctx, eventsIn(namespace), haveEvent("Normal", "Recovered", "recovered from NotControlled"))
			child := childOf(web, kind)
			Expect(plane.Client.Get(ctx, client.ObjectKeyFromObject(child), child)).To(Succeed())
			Expect(metav1.IsControlledBy(child, web)).To(BeTrue())
		},
		Entry("a Deployment", "Deployment", false),
		Entry("a Service", "Service", false),
		Entry("a Deployment with the operator's labels", "Deployment", true),
	)

	It("may belong to a Memcached, and is replaced after the Memcached is deleted", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		cache, web := newMemcached(namespace, "shared", 1), newWebServer(namespace, "shared", 1)
		serving(ctx, cache, 1)
		before := deploymentOf(ctx, cache)
		awaitController(ctx, before)
		create(ctx, web)
		waitFor(ctx, current(web), beDegraded(workload.ReasonNotControlled, `Deployment "shared"`))
		Expect(web).To(haveCondition(workload.Available, "False", workload.ReasonNoPodReady))
		Expect(web.Status.Nodes).To(BeEmpty())
		expectUntouched(ctx, before)
		Expect(current(cache)(ctx)).To(beReady(1))

		Expect(plane.Client.Delete(ctx, cache)).To(Succeed())
		waitFor(ctx, current(web), beReady(1))
		Expect(metav1.IsControlledBy(deploymentOf(ctx, web), web)).To(BeTrue())
	})

})

var _ = Describe("A write that is based on an outdated read", func() {
	It("does not change an object that has replaced the child", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		web := serving(ctx, newWebServer(namespace, "web", 0), 0)
		service, stranger := serviceOf(ctx, web), impostorAt(web, "Service")

		replaced := make(chan struct{})
		assay.Interrupt(func(r record.Request) bool {
			return r.Namespace == namespace && r.Verb == "apply" && r.Resource == "services"
		}, func() {
			defer GinkgoRecover()
			defer close(replaced)
			Expect(plane.Client.Delete(ctx, serviceOf(ctx, web))).To(Succeed())
			create(ctx, stranger)
		})
		edit(ctx, service, func() { service.Spec.Selector = map[string]string{"app": "tampered"} })
		Eventually(replaced).WithContext(ctx).Should(BeClosed())
		waitFor(ctx, current(web), beDegraded(workload.ReasonNotControlled))
		expectUntouched(ctx, stranger)
	})

	It("does not change an object that was created before the child", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		web := newWebServer(namespace, "web", 0)
		stranger := impostorAt(web, "Service")
		assay.Interrupt(func(r record.Request) bool {
			return r.Namespace == namespace && r.Verb == "apply" && r.Resource == "services"
		}, func() {
			defer GinkgoRecover()
			create(ctx, stranger)
		})
		create(ctx, web)
		waitFor(ctx, current(web), beDegraded(workload.ReasonNotControlled))
		expectUntouched(ctx, stranger)
	})
})

// impostorAt returns an unrelated object with the name of a WebServer's child. It has no replicas, so the Deployment
// controller soon stops updating it.
func impostorAt(web client.Object, kind string) client.Object {
	labels := map[string]string{"app": "stranger"}
	if kind == "Service" {
		service := newService(web)
		service.Spec = corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}}
		return service
	}
	deployment := newDeployment(web)
	deployment.Spec = appsv1.DeploymentSpec{
		Replicas: ptr.To[int32](0),
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "stranger", Image: "stranger:1"}}},
		},
	}
	return deployment
}

// awaitController refreshes a Deployment until the Deployment controller has stopped updating it. It does nothing for a
// Service, because no controller updates Services.
func awaitController(ctx context.Context, object client.Object) {
	GinkgoHelper()
	deployment, ok := object.(*appsv1.Deployment)
	if !ok {
		return
	}
	waitFor(ctx, func(ctx context.Context) (*appsv1.Deployment, error) {
		return deployment, plane.Client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment)
	}, Satisfy(func(d *appsv1.Deployment) bool {
		return d.Status.ObservedGeneration == d.Generation && d.Status.AvailableReplicas == *d.Spec.Replicas && len(d.Status.Conditions) == 2
	}))
}

func expectUntouched(ctx context.Context, object client.Object) {
	GinkgoHelper()
	now := object.DeepCopyObject().(client.Object)
	Expect(plane.Client.Get(ctx, client.ObjectKeyFromObject(object), now)).To(Succeed())
	Expect(now).To(Equal(object))
}
