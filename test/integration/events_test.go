package integration

import (
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/api/workload"
)

var _ = Describe("An Event", func() {
	It("that was lost is not sent again, but the status reports the problem", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		quota := newQuota(ctx, namespace, corev1.ResourceServicesNodePorts, "0")
		var lost atomic.Int32
		admit := assay.Refuse(func(r record.Request) bool {
			refused := r.Namespace == namespace && r.Resource == "events"
			if refused {
				lost.Add(1)
			}
			return refused
		})
		DeferCleanup(admit)
		web := newWebServer(namespace, "web", 1)
		create(ctx, web)
		degraded := beDegraded(workload.ReasonRejected, "exceeded quota: quota")
		waitFor(ctx, current(web), And(degraded, haveCondition(workload.Available, "True", workload.ReasonPodsReady)))
		Eventually(lost.Load).WithContext(ctx).Should(BeEquivalentTo(2), "lost Events: Created and Rejected")

		By("Starting another operator")
		stop()
		admit()
		tries := func() record.Requests { return childWrites(namespace) }
		before := len(tries())
		Expect(assay.Start(ctx)).To(Succeed())
		Eventually(tries).WithContext(ctx).ShouldNot(HaveLen(before), "writes of the Service")
		Expect(current(web)(ctx)).To(degraded)

		By("Removing the obstacle")
		Expect(plane.Client.Delete(ctx, quota)).To(Succeed())
		waitFor(ctx, current(web), beReady(1))
		waitFor(ctx, eventsIn(namespace), And(
			haveEvent("Normal", "Created", "Created Service web-service"),
			haveEvent("Normal", "Recovered", "recovered from Rejected", "exceeded quota")))
		Expect(eventsIn(namespace)(ctx)).NotTo(Or(
			haveEvent("Normal", "Created", "Created Deployment web"),
			haveEvent("Warning", workload.ReasonRejected)))
	})
})
