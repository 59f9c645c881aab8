package integration

import (
	"context"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/operator-assay/assay/harness/oracle"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/controller"
)

// outageLabel marks the specs that run in make test-outage. They take too long for make test-integration.
const outageLabel = "outage"

// The specs run all scenarios in parallel and kill the control plane before or after the last action of every scenario.
// The final states must be the same as without an outage.
var _ = Describe("An operator that loses the control plane", Ordered, ContinueOnFailure, Label(outageLabel), func() {
	var (
		o    *outage
		want map[string]oracle.Snapshot // the reference states by scenario
	)

	BeforeAll(func(ctx SpecContext) {
		var playing sync.WaitGroup
		playing.Go(func() {
			defer GinkgoRecover()
			want = playReference(ctx)
		})
		o = newOutage(ctx)
		playing.Wait()
		Expect(want).NotTo(BeEmpty())
	})

	It("in the middle of its writes completes them afterwards", func(ctx SpecContext) {
		o.startOperator(ctx)
		reached, released := make(chan struct{}), make(chan struct{})
		release := sync.OnceFunc(func() { close(released) })
		DeferCleanup(release) // otherwise the operator could not be stopped
		got := o.play(ctx,
			func() {
				o.operator.Interrupt(record.Request.IsWrite, func() {
					close(reached)
					<-released
				})
			},
			func() {
				Eventually(ctx, reached).Should(BeClosed())
				Expect(o.plane.Crash(ctx)).To(Succeed())
				release()
				Expect(o.plane.Restart(ctx)).To(Succeed())
			})
		o.judge(ctx, want, got)
	})

	It("handles the changes that it missed even if etcd is compacted before it reconnects", func(ctx SpecContext) {
		o.startOperator(ctx)
		var reconnect func()
		got := o.play(ctx,
			func() {
				reconnect = o.operator.CutOff()
				Expect(o.plane.Crash(ctx)).To(Succeed())
				Expect(o.plane.Restart(ctx)).To(Succeed())
			},
			func() {
				Expect(o.plane.Compact(ctx)).To(Succeed())
				reconnect()
			})
		o.judge(ctx, want, got)
	})

	It("for longer than its Lease exits, and another instance becomes the leader", func(ctx SpecContext) {
		lead := func() (elected <-chan struct{}, ended chan error) {
			manager, err := o.operator.newManager(ctrl.Options{
				LeaderElection: true, LeaderElectionID: controller.Name, LeaderElectionNamespace: leaseNamespace,
				LeaseDuration: new(leaseDuration), RenewDeadline: new(leaseRenewDeadline), RetryPeriod: new(leaseRetry),
			})
			Expect(err).NotTo(HaveOccurred())
			running, stop := context.WithCancel(context.WithoutCancel(ctx))
			ended = make(chan error, 1)
			over := make(chan struct{})
			go func() {
				defer close(over)
				ended <- manager.Start(running)
			}()
			DeferCleanup(func() {
				stop()
				<-over
			})
			return manager.Elected(), ended
		}
		o.newOperator()
		elected, ended := lead()
		Eventually(ctx, elected).Should(BeClosed())
		next, _ := lead()
		got := o.play(ctx, func() {}, func() {
			Expect(o.plane.Crash(ctx)).To(Succeed())
			Eventually(ctx, ended).WithTimeout(outageTimeout).Should(Receive(MatchError(ContainSubstring("leader election lost"))))
			Expect(next).NotTo(BeClosed())
			Expect(o.plane.Restart(ctx)).To(Succeed())
			Eventually(ctx, next).WithTimeout(outageTimeout).Should(BeClosed())
		})
		o.judge(ctx, want, got)
	})
})
