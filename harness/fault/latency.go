package fault

import (
	"net/http"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// SlowReads delays every read, and SlowWrites delays every write.
var (
	SlowReads = register(&requestFault{common: common{"slow-reads", Latency, atAllRequests}, inject: slowDown, appliesTo: func(request *record.Request) bool {
		return request.Verb == "get" || request.Verb == "list"
	}})
	SlowWrites = register(&requestFault{common: common{"slow-writes", Latency, atAllRequests}, inject: slowDown, appliesTo: (*record.Request).IsWrite})
)

// addedLatency is high for an API server, but low enough to keep runs short.
const addedLatency = 100 * time.Millisecond

func slowDown(call *call) (*http.Response, error) {
	call.delay(addedLatency)
	return call.send()
}
