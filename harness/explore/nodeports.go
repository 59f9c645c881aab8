package explore

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

// needsNodePort is the reason why a scenario needs exclusive control planes if a Service has a fixed node port. A
// cluster can allocate each port only once.
const needsNodePort = "a Service needs a fixed node port"

// refusedService reports whether the API server rejected a Service because its node port is in use.
func refusedService(requests record.Requests) bool {
	return len(requests.Filter(record.Request.IsWrite, func(r record.Request) bool {
		return r.Resource == "services" && r.Group == "" && r.Status == http.StatusUnprocessableEntity &&
			strings.Contains(r.Message, "provided port is already allocated")
	})) > 0
}

// haveSameNodePort reports whether all runs have a node port in common. Ports that are chosen by the API server usually
// differ between runs.
func haveSameNodePort(runs []*recording) bool {
	common := runs[0].nodePorts()
	for _, run := range runs[1:] {
		common = common.Intersection(run.nodePorts())
	}
	return len(common) > 0
}

func (r *recording) nodePorts() sets.Set[int64] {
	found := sets.New[int64]()
	for _, version := range r.outcome.history {
		ports, _, _ := unstructured.NestedSlice(version.Object, "spec", "ports")
		for _, port := range ports {
			fields, _ := port.(map[string]any)
			if number, is := fields["nodePort"].(int64); is {
				found.Insert(number)
			}
		}
	}
	return found
}
