package integration

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/test/scenarios"
)

// The operator must stay within the write budget of each scenario, and every observed status must be accurate.
var _ = Describe("Scenario", Ordered, ContinueOnFailure, func() {
	check := map[string]func() error{} // checks the budget, by scenario

	for _, s := range scenarios.All() {
		It(s.Name, func(ctx SpecContext) {
			namespace := newNamespace(ctx)
			inNamespace := record.InNamespace(namespace)
			env := &scenario.Env{Client: plane.Client, Namespace: namespace, StepTimeout: stepTimeout(), History: history}

			before, begin := 0, time.Now()
			budget, limited := scenarios.Budgets[s.Name]
			for _, step := range s.Steps {
				if step.Name == budget.From {
					before, begin = len(assay.Requests.Requests(inNamespace)), time.Now()
				}
				assay.Requests.SetStep(step.Name)
				result := s.RunStep(ctx, step, env)
				fmt.Fprintf(GinkgoWriter, "  %-24s %-50s %6s\n", result.Step, result.Detail, result.Duration.Round(time.Millisecond))
				if result.Err != nil {
					Fail(fmt.Sprintf("%s %s", step.Name, result.Err)) // the error has several lines
				}
			}
			waitFor(ctx, func(context.Context) (any, error) {
				return nil, scenarios.StatusIsAccurate(history.Versions(namespace))
			}, BeNil())

			if limited {
				took := scenarios.Took(history.Versions(namespace), begin)
				check[s.Name] = func() error { return budget.Check(assay.Requests.Requests(inNamespace)[before:], took) }
				Expect(check[s.Name]()).To(Succeed())
			}
		})
	}

	It("ends with an idle operator and stable objects", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		env := &scenario.Env{Client: plane.Client, Namespace: namespace, StepTimeout: stepTimeout(), History: history}
		Expect(scenarios.All()[0].Run(ctx, env, nil)).To(Succeed())

		waiting, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		Expect(assay.Requests.WaitIdle(waiting, stableFor)).To(Succeed())
		all, err := resources.History(ctx, plane.Client)
		Expect(err).NotTo(HaveOccurred())
		waiting, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
		Expect(all.WaitStable(waiting, namespace, stableFor)).To(Succeed())
		for name, budget := range check {
			Expect(budget()).To(Succeed(), "%s, including the requests after its end", name)
		}
	})
})

var _ = Describe("Fifty resources at once", func() {
	It("become ready, and together stay within the sum of their request budgets", func(ctx SpecContext) {
		const each = 25
		namespace := newNamespace(ctx)
		var all []workloadObject
		for i := range each {
			all = append(all, newWebServer(namespace, fmt.Sprintf("web-%d", i), 1), newMemcached(namespace, fmt.Sprintf("cache-%d", i), 1))
		}
		start := time.Now()
		for _, resource := range all {
			create(ctx, resource)
		}
		for _, resource := range all {
			waitWithin(ctx, 2*timeout, current(resource), beReady(1))
		}
		took := time.Since(start)
		AddReportEntry("settled", fmt.Sprintf("%d resources in %s", len(all), took.Round(time.Millisecond)))
		web, cache := scenarios.Budgets["webserver/create"], scenarios.Budgets["memcached/create"]
		Expect(writesIn(namespace)).To(And(
			BeNumerically(">=", each*(web.Writes+cache.Writes)),
			BeNumerically("<=", each*(web.Most(took)+cache.Most(took)))), "writes for %d WebServers and %d Memcacheds within %s", each, each, took)
		Expect(assay.Requests.Requests(record.InNamespace(namespace)).Reads()).To(BeEmpty())
	})
})
