package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// The bodies of the tables of names, which are the same for both kinds.

func (c contract) expectNameRejected(ctx SpecContext, name string, says []string) {
	refused := c.valid(newNamespace(ctx), name, 1)
	expectRefusal(plane.Client.Create(ctx, refused), says)
	expectNotCreated(ctx, refused)
}

func (c contract) expectGeneratedNameRejected(ctx SpecContext, prefix string, says []string) {
	generated := c.valid(newNamespace(ctx), "", 1)
	generated.SetGenerateName(prefix)
	expectRefusal(plane.Client.Create(ctx, generated), says)
	expectNotCreated(ctx, generated)
}

// expectNameServed expects a name to be valid for the Deployment, the Service, and the Pods and their labels.
func (c contract) expectNameServed(ctx SpecContext, name string) {
	resource := c.valid(newNamespace(ctx), name, 2)
	create(ctx, resource)
	waitFor(ctx, current(resource), beReady(2))
	Expect(deploymentOf(ctx, resource).Status.ReadyReplicas).To(BeEquivalentTo(2))
	if web, ok := resource.(*webserverv1.WebServer); ok {
		service := &corev1.Service{}
		Expect(plane.Client.Get(ctx, client.ObjectKey{Namespace: web.Namespace, Name: name + "-service"}, service)).To(Succeed())
		Expect(service.Spec.Ports).To(HaveExactElements(HaveField("NodePort", web.Status.NodePort)))
	}
}
