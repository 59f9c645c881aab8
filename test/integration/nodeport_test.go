package integration

import (
	"context"
	"fmt"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
)

var _ = Describe("A WebServer's node port", func() {
	var (
		web       *webserverv1.WebServer
		allocated int32
	)
	BeforeEach(func(ctx SpecContext) {
		web = serving(ctx, newWebServer(newNamespace(ctx), "web", 1), 1)
		allocated = web.Status.NodePort
		Expect(allocated).NotTo(BeZero())
		Expect(servedPort(ctx, web)).To(Equal(allocated))
	})

	It("cannot be changed in the status", func(ctx SpecContext) {
		edited := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"status":{"nodePort":%d}}`, allocated%2768+30000))
		Expect(plane.Client.Status().Patch(ctx, web, edited)).To(MatchError(ContainSubstring("status.nodePort cannot be removed or changed directly: set spec.nodePort to change it")))
		removed := client.RawPatch(types.MergePatchType, []byte(`{"status":{"nodePort":null}}`))
		Expect(plane.Client.Status().Patch(ctx, web, removed)).To(MatchError(ContainSubstring("status.nodePort cannot be removed")))
		expectPort(ctx, web, allocated)
	})

	It("is kept while a headless Service is reported as Rejected", func(ctx SpecContext) {
		stop()
		for _, spec := range []string{`{"type":"ExternalName","externalName":"example.com"}`, `{"type":"ClusterIP","clusterIP":"None","externalName":null}`} {
			service := serviceOf(ctx, web)
			Expect(plane.Client.Patch(ctx, service, client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`)), otherManager)).To(Succeed())
		}
		Expect(assay.Start(ctx)).To(Succeed())
		waitFor(ctx, current(web), And(HaveField("Status.NodePort", allocated),
			beDegraded(workload.ReasonRejected, "the Service cannot be written", "may not be set to 'None' for NodePort services")))
		Expect(plane.Client.Delete(ctx, serviceOf(ctx, web))).To(Succeed())
		expectPort(ctx, web, allocated)
	})

	It("is restored as soon as another Service releases it", func(ctx SpecContext) {
		stop()
		elsewhere, thief := freePort(ctx, web), newService(web)
		Expect(plane.Client.Patch(ctx, newService(web), client.RawPatch(types.JSONPatchType,
			fmt.Appendf(nil, `[{"op":"replace","path":"/spec/ports/0/nodePort","value":%d}]`, elsewhere)), otherManager)).To(Succeed())
		thief.Name = "thief"
		thief.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 1, NodePort: allocated}}}
		create(ctx, thief)
		Expect(assay.Start(ctx)).To(Succeed())
		waitFor(ctx, current(web), beDegraded(workload.ReasonRejected, "provided port is already allocated"))
		Expect(web.Status.NodePort).To(Equal(allocated))

		Expect(plane.Client.Delete(ctx, thief)).To(Succeed())
		expectPort(ctx, web, allocated)
	})

	It("survives nine actions of a user, and changes only with the spec", func(ctx SpecContext) {
		port, wanted := allocated, freePort(ctx, web)
		for _, act := range []func(){
			func() { edit(ctx, web, func() { web.Spec.Replicas = new(int32(2)) }) },
			func() { edit(ctx, web, func() { web.Spec.Image = "nginx:1.23.0" }) },
			func() { edit(ctx, web, func() { web.Spec.Replicas = new(int32(0)) }) },
			func() { port = wanted; edit(ctx, web, func() { web.Spec.NodePort = wanted }) },
			func() { Expect(plane.Client.Delete(ctx, deploymentOf(ctx, web))).To(Succeed()) },
			func() { edit(ctx, web, func() { web.Spec.NodePort = 0 }) },
			func() {
				deleted := serviceOf(ctx, web)
				Expect(plane.Client.Delete(ctx, deleted)).To(Succeed())
				waitFor(ctx, serviceNow(web), HaveField("UID", Not(Equal(deleted.UID))))
			},
			func() {
				service, elsewhere := serviceOf(ctx, web), freePort(ctx, web)
				edit(ctx, service, func() { service.Spec.Ports[0].NodePort = elsewhere })
			},
			func() { edit(ctx, web, func() { web.Spec.Replicas = new(int32(1)) }) },
		} {
			act()
			expectPort(ctx, web, port)
		}
		waitFor(ctx, eventsIn(web.Namespace), haveEvent("Normal", "Updated", "Service web-service", "spec.ports[0].nodePort"))
	})

	It("is kept with an unchanged Service while the port in the spec is taken", func(ctx SpecContext) {
		other := newWebServer(newNamespace(ctx), "other", 1)
		create(ctx, other)
		waitFor(ctx, current(other), beReady(1))
		before := serviceOf(ctx, web)
		edit(ctx, web, func() { web.Spec.NodePort = other.Status.NodePort })
		degraded := beDegraded(workload.ReasonRejected, "provided port is already allocated")
		waitFor(ctx, current(web), And(degraded, HaveField("Status.NodePort", allocated)))
		Expect(serviceOf(ctx, web)).To(Equal(before))

		By("Deleting the Service, which cannot be created until the port is free")
		Expect(plane.Client.Delete(ctx, before)).To(Succeed())
		tries := func() record.Requests {
			return childWrites(web.Namespace).Filter(func(r record.Request) bool {
				return r.Resource == "services" && r.Status == http.StatusUnprocessableEntity
			})
		}
		Eventually(func() int { return len(tries()) }).WithContext(ctx).Should(BeNumerically(">", 1))
		Expect(current(web)(ctx)).To(And(degraded, haveCondition(workload.Available, "True", workload.ReasonPodsReady), HaveField("Status.NodePort", allocated)))
		Expect(plane.Client.Delete(ctx, other)).To(Succeed())
		expectPort(ctx, web, other.Status.NodePort)
	})
})

// stop stops the operator until the end of the spec, or until the spec starts it again.
func stop() {
	GinkgoHelper()
	Expect(assay.Stop()).To(Succeed())
	DeferCleanup(assay.Start)
}

func edit[T client.Object](ctx context.Context, object T, change func()) {
	GinkgoHelper()
	Eventually(func(ctx context.Context) error {
		if err := plane.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		change()
		return plane.Client.Update(ctx, object, otherManager)
	}).WithContext(ctx).Should(Succeed())
}

func servedPort(ctx context.Context, web *webserverv1.WebServer) int32 {
	GinkgoHelper()
	ports := serviceOf(ctx, web).Spec.Ports
	Expect(ports).To(HaveLen(1))
	return ports[0].NodePort
}

// serviceNow returns a function that reads a WebServer's Service. The Service may not exist yet.
func serviceNow(web *webserverv1.WebServer) func(context.Context) (*corev1.Service, error) {
	return func(ctx context.Context) (*corev1.Service, error) {
		service := newService(web)
		return service, plane.Client.Get(ctx, client.ObjectKeyFromObject(service), service)
	}
}

func expectPort(ctx context.Context, web *webserverv1.WebServer, port int32) {
	GinkgoHelper()
	waitFor(ctx, serviceNow(web), HaveField("Spec.Ports", ConsistOf(HaveField("NodePort", port))))
	waitFor(ctx, current(web), And(beReady(*web.Spec.Replicas), HaveField("Status.NodePort", port)))
}

// freePort returns a free node port. It lets the API server allocate the port for a temporary Service.
func freePort(ctx context.Context, web *webserverv1.WebServer) int32 {
	GinkgoHelper()
	probe := &corev1.Service{Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 1}}}}
	probe.Namespace, probe.Name = web.Namespace, "probe"
	create(ctx, probe)
	Expect(plane.Client.Delete(ctx, probe)).To(Succeed())
	return probe.Spec.Ports[0].NodePort
}
