package faults

import (
	"context"
	"io"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/test/harness/faults"
)

// TestARepairGoesByTheStoredSpec has somebody scale a WebServer whose watch lags, and somebody else tamper with
// its Deployment, whose watch does not: the operator must not repair what the cache still says was wanted.
func TestARepairGoesByTheStoredSpec(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, err := plane.CreateNamespace(ctx, "repair")
	g.Expect(err).NotTo(HaveOccurred())
	stale, err := faults.Parse("stale watch webservers.my.domain - 1")
	g.Expect(err).NotTo(HaveOccurred())
	wire := faults.NewWire(stale, faults.Scope{Namespace: namespace, Namespaced: func(schema.GroupResource) bool { return true }})
	config, life := wire.NewLife(identity)
	living, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- operate(living, config, io.Discard) }()
	defer func() {
		stop()
		g.Expect(<-ended).NotTo(HaveOccurred())
		life.End()
	}()

	web := &webserverv1.WebServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		Spec:       webserverv1.WebServerSpec{Image: "nginx:1.23.1", Replicas: new(int32(3))},
	}
	g.Expect(plane.Client.Create(ctx, web)).To(Succeed())
	replicas := func() (int32, error) {
		var deployment appsv1.Deployment
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(web), &deployment)
		return deployment.Status.ReadyReplicas, err
	}
	g.Eventually(replicas).WithTimeout(patience).Should(BeEquivalentTo(3))

	wire.Act()
	g.Expect(plane.Client.Patch(ctx, web, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":4}}`)))).To(Succeed())
	g.Eventually(wire.Lasting()).WithTimeout(patience).Should(BeClosed())
	tampered := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	g.Expect(plane.Client.Patch(ctx, tampered, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":7}}`)))).To(Succeed())
	g.Eventually(func() (int32, error) {
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(web), tampered)
		return *tampered.Spec.Replicas, err
	}).WithTimeout(patience).ShouldNot(BeEquivalentTo(7))
	g.Expect(tampered.Spec.Replicas).To(HaveValue(BeEquivalentTo(4)))
}
