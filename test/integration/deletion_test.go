package integration

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
)

// The test control plane's garbage collector and namespace controller delete the children.
var _ = Describe("Deletion", func() {
	It("of a resource in the foreground deletes every child, and the operator writes nothing", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		web, cache := newWebServer(namespace, "web", 2), newMemcached(namespace, "cache", 2)
		create(ctx, web, cache)
		waitFor(ctx, current(web), beReady(2))
		waitFor(ctx, current(cache), beReady(2))
		Expect(web.Finalizers).To(BeEmpty())
		Expect(cache.Finalizers).To(BeEmpty())
		before := len(assay.Requests.Requests(record.InNamespace(namespace)))

		Expect(plane.Client.Delete(ctx, web, client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
		Expect(plane.Client.Delete(ctx, cache, client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
		waitFor(ctx, childrenOf(web), BeEmpty())
		waitFor(ctx, childrenOf(cache), BeEmpty())
		waitFor(ctx, exists(web), BeFalse())
		// The operator may see a child's deletion before its owner's. The API server then rejects the status update.
		writes := assay.Requests.Requests(record.InNamespace(namespace))[before:].Writes()
		Expect(writes.Filter(func(r record.Request) bool {
			return r.Subresource != "status" || !r.IsInFlight() && r.Status < http.StatusBadRequest
		})).To(BeEmpty())
		Expect(len(writes)).To(BeNumerically("<", 10), "number of writes:\n%s", writes.Table())
	})

	It("of a namespace completes although the operator runs", SpecPriority(1), func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		web, cache := newWebServer(namespace, "web", 3), newMemcached(namespace, "cache", 3)
		create(ctx, web, cache)
		waitFor(ctx, current(web), beReady(3))
		waitFor(ctx, current(cache), beReady(3))

		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		Expect(plane.Client.Delete(ctx, ns)).To(Succeed())
		waitWithin(ctx, namespaceDeletion, exists(ns), BeFalse())
	})

	It("of a resource that is created again is not Degraded until an old child is stuck", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		cache := serving(ctx, newMemcached(namespace, "cache", 1), 1)
		finalizers := func(names string) {
			GinkgoHelper()
			patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":`+names+`}}`))
			Expect(plane.Client.Patch(ctx, deploymentOf(ctx, cache), patch)).To(Succeed())
		}
		finalizers(`["example.com/wait"]`)

		Expect(plane.Client.Delete(ctx, cache)).To(Succeed())
		again := newMemcached(namespace, "cache", 1)
		create(ctx, again)
		waitFor(ctx, current(again), And(
			haveCondition("Progressing", metav1.ConditionTrue, "WaitingForDeletion"),
			haveCondition("Degraded", metav1.ConditionFalse, "AsExpected")))
		// No controller removes this finalizer, so the status must eventually report it.
		waitWithin(ctx, 2*timeout, current(again), beDegraded("WaitingForDeletion", "[example.com/wait]"))
		finalizers(`[]`)
		waitFor(ctx, current(again), beReady(1))
	})

	It("in the middle of a reconcile does not create a child", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		web := serving(ctx, newWebServer(namespace, "web", 1), 1)
		service, deployment := serviceOf(ctx, web), deploymentOf(ctx, web)

		interrupted, before := make(chan bool, 1), len(assay.Requests.Requests(record.InNamespace(namespace)))
		assay.Interrupt(func(r record.Request) bool {
			return r.Namespace == namespace && r.Verb == "update" && r.Resource == "webservers"
		}, func() {
			defer GinkgoRecover()
			defer func() { interrupted <- true }()
			Expect(plane.Client.Delete(ctx, web)).To(Succeed())
			waitFor(ctx, exists(deployment), BeFalse())
		})
		Expect(plane.Client.Delete(ctx, service)).To(Succeed())
		Eventually(interrupted).WithContext(ctx).Should(Receive())
		waitFor(ctx, childrenOf(web), BeEmpty())

		requests := func() record.Requests { return assay.Requests.Requests(record.InNamespace(namespace))[before:] }
		update := And(HaveField("Subresource", "status"), HaveField("Status", 404))
		Eventually(requests).WithContext(ctx).Should(ContainElement(update), "a status update that the API server rejects")
		Expect(requests().Writes()).To(HaveEach(update))
	})

	It("that waits for another client's finalizer stops the operator's writes, and the Pods keep serving", func(ctx SpecContext) {
		web := newWebServer(newNamespace(ctx), "web", 2)
		web.Finalizers = []string{"example.com/wait"}
		serving(ctx, web, 2)
		release := func(ctx SpecContext) { edit(ctx, web, func() { web.Finalizers = nil }) }
		before := len(assay.Requests.Requests(record.InNamespace(web.Namespace)))
		Expect(plane.Client.Delete(ctx, web)).To(Succeed())
		Expect(plane.Client.Delete(ctx, serviceOf(ctx, web))).To(Succeed())

		requests := func() record.Requests {
			return assay.Requests.Requests(record.InNamespace(web.Namespace))[before:].Writes()
		}
		Consistently(requests).WithContext(ctx).WithTimeout(stableFor / 4).Should(BeEmpty())
		Expect(current(web)(ctx)).To(HaveField("Status.ReadyReplicas", BeEquivalentTo(2)))
		release(ctx)
		waitFor(ctx, childrenOf(web), BeEmpty())
	})

	It("of the Deployment in the foreground completes before a new Deployment is created", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		cache := serving(ctx, newMemcached(namespace, "cache", 2), 2)
		old := cache.Status.Nodes

		plane.PausePods(namespace) // delay the deletion of the Pods and the Deployment
		DeferCleanup(plane.ResumePods, namespace)
		Expect(plane.Client.Delete(ctx, deploymentOf(ctx, cache), client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
		waitFor(ctx, current(cache), haveCondition("Progressing", metav1.ConditionTrue, "WaitingForDeletion"))
		plane.ResumePods(namespace)
		waitFor(ctx, current(cache), beReady(2))
		Expect(cache.Status.Nodes).NotTo(ContainElements(old))
	})
})
