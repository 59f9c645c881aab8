package integration

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/operator-assay/assay/test/edits"
)

var _ = Describe("The contract of WebServer", func() {
	webServers.describeRejected(edits.WebServer.Refusals)

	webServers.describeAccepted(edits.WebServer.Acceptances)

	nameRule := []string{"metadata.name must have at most 55 characters", "NAME-service", "beginning with a letter"}
	DescribeTable("rejects a name that is invalid for a child", webServers.expectNameRejected,
		Entry("of 56 characters", strings.Repeat("a", 56), nameRule),
		Entry("with a dot", "web.server", nameRule),
		Entry("that begins with a digit", "1web", nameRule),
	)
	DescribeTable("rejects a generated name that is invalid for a child", webServers.expectGeneratedNameRejected,
		Entry("of 56 characters", strings.Repeat("a", 51), nameRule),
		Entry("that the API server has shortened", strings.Repeat("a", 100), nameRule),
	)
	DescribeTable("creates every child of a WebServer", webServers.expectNameServed,
		Entry("with the longest name", strings.Repeat("w", 55)),
		Entry("with the shortest name", "w"),
	)
	It("accepts a generated name of 55 characters", func(ctx SpecContext) {
		generated := newWebServer(newNamespace(ctx), "", 0)
		generated.GenerateName = strings.Repeat("w", 50)
		create(ctx, generated)
		Expect(generated.Name).To(HaveLen(55))
		waitFor(ctx, current(generated), beReady(0))
	})

	It("applies the lowest and the highest port to its children", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		for name, port := range map[string]int32{"first": 1, "last": 65535} {
			web := newWebServer(namespace, name, 1)
			web.Spec.Port = port
			if name == "first" {
				web.Spec.NodePort = 30000 // the API server allocates this port only if no others are free
			}
			serving(ctx, web, 1)
			Expect(deploymentOf(ctx, web).Spec.Template.Spec.Containers[0].Ports[0].ContainerPort).To(Equal(port))
			service := serviceOf(ctx, web)
			Expect(service.Spec.Ports).To(HaveExactElements(And(
				HaveField("Port", BeEquivalentTo(80)),
				HaveField("TargetPort", intstr.FromString("serve")),
				HaveField("NodePort", Or(Equal(web.Spec.NodePort), BeNumerically(">", 30000))))))
			Expect(web.Status.NodePort).To(Equal(service.Spec.Ports[0].NodePort))
		}
	})

	// If the API server used a different range, the schema would reject valid ports or admit invalid ones.
	It("accepts the API server's range of node ports", func(ctx SpecContext) {
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: newNamespace(ctx), Name: "outside"}}
		service.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: 32768}}}
		err := plane.Client.Create(ctx, service)
		Expect(apierrors.IsInvalid(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring("30000-32767")))
	})

	It("distinguishes 0 replicas from an unset field", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		none, absent := newWebServer(namespace, "none", 0), newWebServer(namespace, "absent", 0)
		absent.Spec.Replicas = nil
		create(ctx, none, absent)
		waitFor(ctx, current(none), beReady(0))
		waitFor(ctx, current(absent), beReady(1))
		Expect(none.Spec.Replicas).To(Equal(ptr.To[int32](0)))
		Expect(deploymentOf(ctx, none).Spec.Replicas).To(Equal(ptr.To[int32](0)))
		Expect(none).To(haveCondition("Available", metav1.ConditionFalse, "ScaledToZero"))
	})
})
