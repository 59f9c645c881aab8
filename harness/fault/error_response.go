package fault

import (
	"net/http"
	"slices"
	"time"
)

// These faults respond to a single request or to a burst of requests with an error.
var (
	Error409      = errorResponse{code: http.StatusConflict, onlyWrites: true, everyWrite: true}.register("error-409")
	Error429      = errorResponse{code: http.StatusTooManyRequests}.register("error-429")
	Error500      = errorResponse{code: http.StatusInternalServerError, everyWrite: true}.register("error-500")
	Error503      = errorResponse{code: http.StatusServiceUnavailable}.register("error-503")
	Error504      = errorResponse{code: http.StatusGatewayTimeout}.register("error-504")
	ErrorBurst409 = errorResponse{code: http.StatusConflict, onlyWrites: true, lasts: burstDuration}.register("error-burst-409")
	ErrorBurst503 = errorResponse{code: http.StatusServiceUnavailable, lasts: burstDuration}.register("error-burst-503")
	// SlowError500 simulates an admission webhook that does not respond. The write fails after the webhook's timeout.
	SlowError500 = errorResponse{code: http.StatusInternalServerError, onlyWrites: true, after: webhookTimeout}.register("slow-error-500")
)

const (
	// webhookTimeout is the default timeout for admission webhooks.
	webhookTimeout = 10 * time.Second
	// burstDuration is long enough for oracle.BoundedRetries to distinguish exponential backoff, which retries a few
	// times, from a hot loop, which retries hundreds of times.
	burstDuration = 2 * time.Second
)

type errorResponse struct {
	code       int
	onlyWrites bool // reads do not cause conflicts or call webhooks
	everyWrite bool // inject the fault at every write instead of at one chosen request
	after      time.Duration
	lasts      time.Duration
}

func (e errorResponse) register(name string) Type {
	return register(&requestFault{common: common{name, Errors, e.points}, inject: e.inject, lasts: e.lasts})
}

func (e errorResponse) points(ref *Reference) []RequestKey {
	var points []RequestKey
	if e.onlyWrites {
		points = ref.chooseOne(ref.Writes)
	} else {
		points = atOneRequest(ref)
	}
	if e.everyWrite {
		for _, write := range ref.Writes {
			if !slices.Contains(points, write) {
				points = append(points, write)
			}
		}
	}
	return points
}

func (e errorResponse) inject(call *call) (*http.Response, error) {
	if call.delay(e.after); call.Context().Err() != nil {
		return nil, call.Context().Err()
	}
	return refuse(call.Request, e.code), nil
}
