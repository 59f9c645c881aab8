package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

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

// expectNameServed expects that a resource with this name becomes ready. The name must be valid for the Deployment, the
// Service, the Pods and the labels.
func (c contract) expectNameServed(ctx SpecContext, name string) {
	resource := serving(ctx, c.valid(newNamespace(ctx), name, 2), 2)
	if web, ok := resource.(*webserverv1.WebServer); ok {
		Expect(serviceOf(ctx, web).Spec.Ports).To(HaveExactElements(HaveField("NodePort", web.Status.NodePort)))
	}
}
