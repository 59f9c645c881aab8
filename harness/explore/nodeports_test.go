package explore

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/record"
)

func TestFixedNodePortNeedsExclusiveControlPlane(t *testing.T) {
	g := NewWithT(t)
	run := func(ports ...int64) *recording {
		r := &recording{}
		for _, port := range ports {
			service := version("Service", "web", nil)
			service.Object["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(80)}, map[string]any{"port": int64(81), "nodePort": port}}}
			r.outcome.history = append(r.outcome.history, service)
		}
		return r
	}
	g.Expect(haveSameNodePort([]*recording{run(30001, 30002), run(30003, 30002), run(30002)})).To(BeTrue())
	g.Expect(haveSameNodePort([]*recording{run(30001), run(30001), run(30002)})).To(BeFalse())
	g.Expect(haveSameNodePort([]*recording{run(), run()})).To(BeFalse(), "port 80 is not a node port")

	refused := record.Request{Verb: "create", Resource: "services", Status: 422}
	g.Expect(refusedService(record.Requests{refused})).To(BeTrue())
	for _, other := range []record.Request{{Verb: "create", Resource: "services", Status: 201}, {Verb: "get", Resource: "services", Status: 422},
		{Verb: "create", Resource: "pods", Status: 422}, {Verb: "create", Group: "serving.knative.dev", Resource: "services", Status: 422}} {
		g.Expect(refusedService(record.Requests{other})).To(BeFalse(), other.String())
	}
}
