package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/operator-assay/assay/test/harness/scenario"
	"github.com/operator-assay/assay/test/scenarios"
)

var _ = Describe("Scenario", func() {
	for _, s := range scenarios.All() {
		It(s.Name, func(ctx SpecContext) {
			namespace, err := plane.CreateNamespace(ctx, "scenario")
			Expect(err).NotTo(HaveOccurred())
			world := &scenario.World{Client: plane.Client, Namespace: namespace, Patience: patience}

			watching, stop := context.WithCancel(ctx)
			defer stop()
			witness, err := world.Witness(watching, s.Subject, corev1.SchemeGroupVersion.WithKind("Pod"))
			Expect(err).NotTo(HaveOccurred())

			Expect(s.Run(ctx, world, func(o scenario.Outcome) {
				assay.Requests.Step(o.Step)
				fmt.Fprintf(GinkgoWriter, "  %-28s %-40s %s\n", o.Step, o.Note, o.Took)
			})).To(Succeed())
			Eventually(func() error { return scenarios.StatusIsTruthful(witness.History()) }).Should(Succeed())
			fmt.Fprintln(GinkgoWriter, assay.Requests.Requests().Table())
		})
	}
})
