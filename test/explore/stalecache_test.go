package explore_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/operator/api/workload"
	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/record"
)

// TestARepairWaitsForTheStoredSpec has somebody tamper with the Deployment of a WebServer that was scaled while
// its watch lags: the API server must refuse what the cache still says is desired.
func TestARepairWaitsForTheStoredSpec(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	web, lag := laggingWebServer(t, `{"spec":{"replicas":4}}`)

	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name}}
	g.Expect(plane.Client.Patch(ctx, deployment, mergePatch(`{"spec":{"replicas":7}}`))).To(Succeed())
	replicas := func() (int32, error) {
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(web), deployment)
		return *deployment.Spec.Replicas, err
	}
	expectRefusedClaim(t, lag)
	g.Expect(replicas()).To(BeEquivalentTo(7))
	lag.Release()
	g.Eventually(replicas).WithTimeout(stepTimeout).Should(BeEquivalentTo(4))
}

// TestAStatusWaitsForTheStoredOne has a Pod of a WebServer replaced while its watch lags: the API server must refuse a
// status that replaces another version than the cache holds.
func TestAStatusWaitsForTheStoredOne(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	web, lag := laggingWebServer(t, `{"metadata":{"labels":{"example.com/team":"web"}}}`)

	replaced := web.Status.Nodes[0]
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: replaced}}
	g.Expect(plane.Client.Delete(ctx, pod)).To(Succeed())
	expectRefusedClaim(t, lag)
	lag.Release()
	g.Eventually(func() ([]string, error) {
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(web), web)
		return web.Status.Nodes, err
	}).WithTimeout(stepTimeout).Should(And(HaveLen(3), Not(ContainElement(replaced))))
}

// TestASuccessorInheritsNothing deletes a WebServer that names a node port, and creates another that names none,
// while their watch lags: what the cache still holds of the first must not mix with what is stored of the second.
func TestASuccessorInheritsNothing(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	lag, namespace := runWithFault(t, "stale watch webservers.my.domain - 1")
	web := createWebServer(t, namespace)
	named, err := ports.of(namespace, firstNodePort)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(plane.Client.Patch(ctx, web, mergePatch(fmt.Sprintf(`{"spec":{"nodePort":%d}}`, named)))).To(Succeed())
	g.Eventually(func() (int32, error) {
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(web), web)
		return web.Status.NodePort, err
	}).WithTimeout(stepTimeout).Should(BeEquivalentTo(named))

	// The Deployment's end, of which the operator hears, is to come when the successor is there.
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: web.Name}}
	g.Expect(plane.Client.Patch(ctx, deployment, mergePatch(`{"metadata":{"finalizers":["example.com/wait"]}}`))).To(Succeed())
	lag.NextAction()
	g.Expect(plane.Client.Delete(ctx, web)).To(Succeed())
	successor := &webserverv1.WebServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: web.Name},
		Spec:       webserverv1.WebServerSpec{Image: web.Spec.Image},
	}
	g.Expect(plane.Client.Create(ctx, successor)).To(Succeed())
	g.Expect(plane.Client.Patch(ctx, deployment, mergePatch(`{"metadata":{"finalizers":null}}`))).To(Succeed())
	expectRefusedClaim(t, lag)
	lag.Release()

	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: web.Name + "-service"}}
	g.Eventually(func() (bool, error) {
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(service), service)
		return metav1.IsControlledBy(service, successor), client.IgnoreNotFound(err)
	}).WithTimeout(stepTimeout).Should(BeTrue())
	g.Expect(service.Spec.Ports).To(ConsistOf(HaveField("NodePort", Not(BeEquivalentTo(named)))))
}

// TestAChildThatCameAndWentUnseenIsMissed has the Service of a WebServer deleted before its watch has told that it
// was made, and the watch broken: nothing ever tells that it is gone. The operator has done all by then that it is
// told to, and does no more than look now and then.
func TestAChildThatCameAndWentUnseenIsMissed(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	history := newWalkHistory(t)
	injector, namespace := runWithFault(t, "missed-events watch services - 1")
	injector.NextAction()
	web := createWebServer(t, namespace)
	g.Eventually(injector.Pending()).WithTimeout(stepTimeout).Should(BeClosed())
	resting, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	g.Expect(injector.WaitIdle(resting, history, 500*time.Millisecond)).To(Succeed())

	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: web.Name + "-service"}}
	g.Expect(plane.Client.Get(ctx, client.ObjectKeyFromObject(service), service)).To(Succeed())
	deleted := service.UID
	g.Expect(plane.Client.Delete(ctx, service)).To(Succeed())
	g.Expect(injector.Release()).To(BeTrue())
	g.Eventually(func() (types.UID, error) {
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(service), service)
		return service.UID, err
	}).WithTimeout(stepTimeout).ShouldNot(Equal(deleted))
}

// laggingWebServer is a WebServer of three Pods that was patched since, of which its operator's watch does not tell.
func laggingWebServer(t *testing.T, patch string) (*webserverv1.WebServer, *faultinject.Injector) {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	injector, namespace := runWithFault(t, "stale watch webservers.my.domain - 1")
	web := createWebServer(t, namespace)
	injector.NextAction()
	g.Expect(plane.Client.Patch(ctx, web, mergePatch(patch))).To(Succeed())
	g.Eventually(injector.Pending()).WithTimeout(stepTimeout).Should(BeClosed())
	return web, injector
}

// expectRefusedClaim waits until the API server has refused a status of the operator, and sees that nothing else of the
// operator's has changed anything since.
func expectRefusedClaim(t *testing.T, injector *faultinject.Injector) {
	t.Helper()
	g := NewWithT(t)
	since := injector.TriggeredAt()
	writes := func() record.Requests {
		return injector.Requests.Requests(func(r record.Request) bool { return r.Time.After(since) }).Writes()
	}
	refused := And(HaveField("Subresource", "status"), HaveField("Status", Or(Equal(409), Equal(404))))
	g.Eventually(writes).WithTimeout(stepTimeout).Should(ContainElement(refused))
	g.Expect(writes()).To(HaveEach(refused))
}

// runWithFault is a namespace with an operator of its own, which a fault befalls. Both end with the test.
func runWithFault(t *testing.T, fault string) (*faultinject.Injector, string) {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	namespace, err := plane.CreateNamespace(ctx, "lag")
	g.Expect(err).NotTo(HaveOccurred())
	dealt, err := faultinject.Parse(fault)
	g.Expect(err).NotTo(HaveOccurred())
	injector := faultinject.New(dealt, faultinject.Scope{Namespace: namespace, Namespaced: func(schema.GroupResource) bool { return true }})
	config, instance := injector.NewInstance(identity)
	living, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- runInstance(living, config, io.Discard) }()
	t.Cleanup(func() {
		stop()
		g.Expect(<-ended).NotTo(HaveOccurred())
		instance.End()
	})
	return injector, namespace
}

// createWebServer makes a WebServer of three Pods and waits until they are ready and told of.
func createWebServer(t *testing.T, namespace string) *webserverv1.WebServer {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	web := &webserverv1.WebServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		Spec:       webserverv1.WebServerSpec{Image: "nginx:1.23.1", Replicas: new(int32(3))},
	}
	g.Expect(plane.Client.Create(ctx, web)).To(Succeed())
	g.Eventually(func() (workload.Status, error) {
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(web), web)
		return web.Status.Status, err
	}).WithTimeout(stepTimeout).Should(And(HaveField("ReadyReplicas", BeEquivalentTo(3)), HaveField("Nodes", HaveLen(3))))
	return web
}

func mergePatch(patch string) client.Patch {
	return client.RawPatch(types.MergePatchType, []byte(patch))
}
