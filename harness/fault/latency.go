package fault

import (
	"net/http"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// SlowReads delays every read, and SlowWrites delays every write.
var (
	SlowReads  = register(latency{name: "slow-reads"})
	SlowWrites = register(latency{name: "slow-writes", writes: true})
)

// addedLatency is high for an API server, but low enough to keep runs short.
const addedLatency = 100 * time.Millisecond

type latency struct {
	name   string
	writes bool
}

func (l latency) Name() string                 { return l.name }
func (latency) Category() Category             { return Latency }
func (latency) Points(*Reference) []RequestKey { return []RequestKey{{}} }

func (l latency) AppliesTo(request *record.Request) bool {
	if l.writes {
		return request.IsWrite()
	}
	return request.Verb == "get" || request.Verb == "list"
}

func (latency) Inject(call *Call) (*http.Response, error) {
	call.delay(addedLatency)
	return call.send()
}
