// Package integration tests the operator's contract with a real API server, etcd and kube-controller-manager. The
// scheduler and the kubelet are simulated. Package controlplane documents the limits of this setup.
package integration

import (
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/config"
	"github.com/operator-assay/assay/operator/controller"
)

// All specs share these variables. A spec may stop the operator and start it again.
var (
	plane     *controlplane.ControlPlane
	resources *record.ResourceLister
	history   *record.History
	assay     *operator
	startup   time.Duration // how long the suite took to start
)

func TestIntegration(t *testing.T) {
	SetDefaultEventuallyTimeout(timeout)
	SetDefaultEventuallyPollingInterval(pollInterval)
	SetDefaultConsistentlyDuration(stableFor)
	EnforceDefaultTimeoutsWhenUsingContexts()
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	RegisterFailHandler(Fail)
	ctrl.SetLogger(GinkgoLogr) // the libraries log warnings from the API server
	RunSpecs(t, "Integration")
}

var _ = BeforeSuite(func(ctx SpecContext) {
	begin := time.Now()
	var err error
	plane, err = controlplane.Start(ctx, controlplane.Options{
		CRDs:       []string{"../../operator/config/crd/bases"},
		Scheme:     controller.Scheme(),
		UseReserve: true,
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(plane.Stop()).To(Succeed()) })

	resources, err = record.NewResourceLister(plane.Config)
	Expect(err).NotTo(HaveOccurred())
	history = newSuiteHistory(ctx)

	identity, err := plane.User(ctx, "assay-operator", config.Role)
	Expect(err).NotTo(HaveOccurred())
	assay = newOperator(identity)
	Expect(assay.Start(ctx)).To(Succeed())
	startup = time.Since(begin)
	DeferCleanup(func() { Expect(assay.Stop()).To(Succeed()) })
})
