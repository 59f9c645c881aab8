package explore

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

// needNodePort reports whether a Service needs a fixed node port. This is the case if the API server rejected a Service
// because its port is in use, or if all runs use the same port. Ports chosen by the API server usually differ.
func needNodePort(runs []*recording) bool {
	common := runs[0].nodePorts()
	for _, run := range runs {
		if len(run.injector.Requests.Requests(isPortConflict)) > 0 {
			return true
		}
		common = common.Intersection(run.nodePorts())
	}
	return len(runs) > 1 && len(common) > 0
}

func isPortConflict(r record.Request) bool {
	return r.IsWrite() && r.Resource == "services" && r.Group == "" && r.Status == http.StatusUnprocessableEntity &&
		strings.Contains(r.Message, "provided port is already allocated")
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
