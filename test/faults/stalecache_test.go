package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/wait"
	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// TestRepairUsesStoredSpec scales a WebServer and changes its Deployment while the operator's WebServer watch lags. The
// API server must reject a repair that is based on the cached spec.
func TestRepairUsesStoredSpec(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	lag := runWithFault(t, "stale watch webservers.my.domain - 1")
	web := createWebServer(t, lag)
	lag.waitIdle(t)
	lag.NextAction()
	g.Expect(plane.Client.Patch(ctx, web, mergePatch(`{"spec":{"replicas":4}}`))).To(Succeed())
	g.Eventually(lag.Pending()).WithTimeout(stepTimeout).Should(BeClosed())

	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name}}
	g.Expect(plane.Client.Patch(ctx, deployment, mergePatch(`{"spec":{"replicas":7}}`))).To(Succeed())
	replicas := func(ctx context.Context) (int32, error) {
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(web), deployment)
		return *deployment.Spec.Replicas, err
	}
	expectRefusedClaim(t, lag)
	g.Expect(replicas(ctx)).To(BeEquivalentTo(7))
	lag.Release()
	waitFor(t, lag, replicas, BeEquivalentTo(4))
}

// TestRecreatedResourceIgnoresOldState deletes a WebServer with a node port in its spec and recreates it without one
// while the operator's watch lags. The operator must not apply the cached state of the old WebServer to the new one.
func TestRecreatedResourceIgnoresOldState(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	lag := runWithFault(t, "stale watch webservers.my.domain - 1")
	web := createWebServer(t, lag)
	const named = firstNodePort + 85 // the other tests use the ports below
	g.Expect(plane.Client.Patch(ctx, web, mergePatch(fmt.Sprintf(`{"spec":{"nodePort":%d}}`, named)))).To(Succeed())
	waitFor(t, lag, statusOf(web), HaveField("NodePort", BeEquivalentTo(named)))

	lag.waitIdle(t)

	// The operator receives the deletion of the Deployment only after the new WebServer exists.
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name}}
	g.Expect(plane.Client.Patch(ctx, deployment, mergePatch(`{"metadata":{"finalizers":["example.com/wait"]}}`))).To(Succeed())
	lag.NextAction()
	g.Expect(plane.Client.Delete(ctx, web)).To(Succeed())
	successor := &webserverv1.WebServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name},
		Spec:       webserverv1.WebServerSpec{Image: web.Spec.Image},
	}
	g.Expect(plane.Client.Create(ctx, successor)).To(Succeed())
	g.Expect(plane.Client.Patch(ctx, deployment, mergePatch(`{"metadata":{"finalizers":null}}`))).To(Succeed())
	expectRefusedClaim(t, lag)
	lag.Release()

	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name + "-service"}}
	waitFor(t, lag, func(ctx context.Context) (bool, error) {
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(service), service)
		return metav1.IsControlledBy(service, successor), err
	}, BeTrue())
	g.Expect(service.Spec.Ports).To(ConsistOf(HaveField("NodePort", Not(BeEquivalentTo(named)))))
}

// TestDeletionWithoutEventIsDetected deletes the Service of a WebServer before the watch has delivered its creation,
// and then closes the watch. The operator never receives an event for the deletion, so only its delayed reconcile can
// detect that the Service is missing.
func TestDeletionWithoutEventIsDetected(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	lag := runWithFault(t, "missed-events watch services - 1")
	lag.NextAction()
	web := createWebServer(t, lag)
	g.Eventually(lag.Pending()).WithTimeout(stepTimeout).Should(BeClosed())
	lag.waitIdle(t)

	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: web.Namespace, Name: web.Name + "-service"}}
	g.Expect(plane.Client.Get(ctx, client.ObjectKeyFromObject(service), service)).To(Succeed())
	deleted := service.UID
	g.Expect(plane.Client.Delete(ctx, service)).To(Succeed())
	g.Expect(lag.Release()).To(BeTrue())
	waitFor(t, lag, func(ctx context.Context) (types.UID, error) {
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(service), service)
		return service.UID, err
	}, Not(Equal(deleted)))
}

// waitIdle waits until the operator is idle and has received the events of its own writes. Until it has received them,
// the operator does not write, because it knows that its cache is stale.
func (r *faultyRun) waitIdle(t *testing.T) {
	t.Helper()
	waiting, cancel := context.WithTimeout(t.Context(), stepTimeout)
	defer cancel()
	NewWithT(t).Expect(r.WaitIdle(waiting, r.history, stableFor)).To(Succeed())
}

// expectRefusedClaim waits until the API server has rejected two status updates, and expects no other writes since the
// fault was injected. An operator that ignores a rejection would write a child before it updates the status again.
func expectRefusedClaim(t *testing.T, lag *faultyRun) {
	t.Helper()
	g := NewWithT(t)
	since := lag.TriggeredAt()
	writes := func() record.Requests {
		return lag.Requests.Requests(func(r record.Request) bool { return r.Time.After(since) }).Writes()
	}
	refusals := func() int {
		return len(writes().Filter(func(r record.Request) bool { return r.Status == http.StatusConflict || r.Status == http.StatusNotFound }))
	}
	g.Eventually(refusals).WithTimeout(stepTimeout).Should(BeNumerically(">=", 2))
	g.Expect(writes()).To(HaveEach(HaveField("Subresource", "status"))) // the API server accepts a status only for the stored version
}

type faultyRun struct {
	*fault.Injector
	namespace string
	history   *record.History
}

// waitFor waits until the result of read matches. It reads again after each change in the namespace of the run.
func waitFor[T any](t *testing.T, run *faultyRun, read func(context.Context) (T, error), matcher gomegatypes.GomegaMatcher) {
	t.Helper()
	noError(t, run.history.WaitFor(t.Context(), run.namespace, stepTimeout, wait.Match(read, matcher)))
}

func statusOf(web *webserverv1.WebServer) func(context.Context) (webserverv1.WebServerStatus, error) {
	return func(ctx context.Context) (webserverv1.WebServerStatus, error) {
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(web), web)
		return web.Status, err
	}
}

// runWithFault starts an operator with a fault in a new namespace. The operator stops at the end of the test.
func runWithFault(t *testing.T, text string) *faultyRun {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	namespace, err := plane.CreateNamespace(ctx, "lag")
	g.Expect(err).NotTo(HaveOccurred())
	parsed, err := fault.Parse(text)
	g.Expect(err).NotTo(HaveOccurred())
	injector := fault.New(fault.Scope{Namespace: namespace, Namespaced: func(schema.GroupResource) bool { return true }}, parsed)
	config, instance := injector.NewInstance(identity)
	t.Cleanup(instance.End)
	startOperator(t, config)
	return &faultyRun{injector, namespace, newHistory(t)}
}

func createWebServer(t *testing.T, run *faultyRun) *webserverv1.WebServer {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	web := &webserverv1.WebServer{
		ObjectMeta: metav1.ObjectMeta{Namespace: run.namespace, Name: "web"},
		Spec:       webserverv1.WebServerSpec{Image: "nginx:1.23.1", Replicas: new(int32(3))},
	}
	g.Expect(plane.Client.Create(ctx, web)).To(Succeed())
	waitFor(t, run, statusOf(web), And(HaveField("ReadyReplicas", BeEquivalentTo(3)), HaveField("Nodes", HaveLen(3))))
	return web
}

func mergePatch(patch string) client.Patch {
	return client.RawPatch(types.MergePatchType, []byte(patch))
}
