package integration

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/test/scenarios"
)

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
			BeNumerically(">=", each*(web.Min+cache.Min)),
			BeNumerically("<=", each*(web.Writes(took)+cache.Writes(took)))), "writes for %d WebServers and %d Memcacheds within %s", each, each, took)
		Expect(assay.Requests.Requests(record.InNamespace(namespace)).Reads()).To(BeEmpty())
	})
})
