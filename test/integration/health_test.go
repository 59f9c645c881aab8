package integration

import (
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gleak"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// forbiddenLogLines must not appear in the operator's log. They indicate a missing permission, a reconcile that failed with
// a conflict, or a panic.
var forbiddenLogLines = regexp.MustCompile(`is forbidden: User|"level":"error".*the object has been modified|panic`)

// The following checks run for every spec.
var (
	_ = BeforeEach(func() {
		logged, panicked := len(assay.Log.Contents()), reconcilePanics()
		DeferCleanup(func() {
			Expect(string(assay.Log.Contents()[logged:])).NotTo(MatchRegexp(forbiddenLogLines.String()))
			Expect(reconcilePanics()).To(Equal(panicked))
		})
	})

	_ = Describe("An operator that stops", func() {
		// This spec must finish before the suite's watches reconnect, which happens after 5 to 10 minutes and starts
		// new goroutines.
		It("leaves no goroutines behind", SpecPriority(1), func(ctx SpecContext) {
			stop()
			before := Goroutines()

			Expect(assay.Start(ctx)).To(Succeed())
			serving(ctx, newWebServer(newNamespace(ctx), "web", 1), 1)
			Expect(assay.Stop()).To(Succeed())
			// client-go keeps idle connections open for later requests.
			Eventually(Goroutines).ShouldNot(HaveLeaked(before, IgnoringInBacktrace("http2.(*ClientConn).readLoop")))
		})
	})
)

func reconcilePanics() (panics float64) {
	GinkgoHelper()
	families, err := metrics.Registry.Gather()
	Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() == "controller_runtime_reconcile_panics_total" {
			for _, metric := range family.GetMetric() {
				panics += metric.GetCounter().GetValue()
			}
		}
	}
	return panics
}
