package oracle

import (
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/record"
)

// AfterLastStep is the step name of requests that are sent after all steps have succeeded.
const AfterLastStep = "after the last step"

// RepeatedAtRest returns one request for each write that the operator sent more than once after the last step. These
// writes explain why a run does not become stable.
func RepeatedAtRest(requests record.Requests) record.Requests {
	times := map[string]int{}
	repeated := requests.Filter(record.Request.IsWrite, func(request record.Request) bool {
		if request.Step != AfterLastStep {
			return false
		}
		write := asText(request)
		times[write]++
		return times[write] == 2
	})
	slices.SortFunc(repeated, func(a, b record.Request) int { return strings.Compare(asText(a), asText(b)) })
	return repeated
}

func asText(write record.Request) string {
	return write.Verb + " " + write.Target() + " " + write.Name
}
