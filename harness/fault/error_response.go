package fault

import (
	"net/http"
	"slices"
	"time"
)

// Error responses to a single request or to a burst of requests.
var (
	Error409      = register(errorResponse{name: "error-409", code: http.StatusConflict, onlyWrites: true, everyWrite: true})
	Error429      = register(errorResponse{name: "error-429", code: http.StatusTooManyRequests})
	Error500      = register(errorResponse{name: "error-500", code: http.StatusInternalServerError, everyWrite: true})
	Error503      = register(errorResponse{name: "error-503", code: http.StatusServiceUnavailable})
	Error504      = register(errorResponse{name: "error-504", code: http.StatusGatewayTimeout})
	ErrorBurst409 = register(burst{errorResponse{name: "error-burst-409", code: http.StatusConflict, onlyWrites: true}})
	ErrorBurst503 = register(burst{errorResponse{name: "error-burst-503", code: http.StatusServiceUnavailable}})
	// SlowError500 simulates an admission webhook that does not respond. The write fails after the webhook's timeout.
	SlowError500 = register(errorResponse{name: "slow-error-500", code: http.StatusInternalServerError, onlyWrites: true, after: webhookTimeout})
)

// webhookTimeout is the default timeout for admission webhooks.
const webhookTimeout = 10 * time.Second

type errorResponse struct {
	name       string
	code       int
	onlyWrites bool // reads do not cause conflicts or call webhooks
	everyWrite bool // inject the fault at every write instead of at one chosen request
	after      time.Duration
}

func (e errorResponse) Name() string     { return e.name }
func (errorResponse) Category() Category { return Errors }

func (e errorResponse) Points(ref *Reference) []RequestKey {
	candidates := ref.Writes
	if !e.onlyWrites {
		candidates = ref.requests()
	}
	points := ref.chooseOne(candidates)
	if e.everyWrite {
		for _, write := range ref.Writes {
			if !slices.Contains(points, write) {
				points = append(points, write)
			}
		}
	}
	return points
}

func (e errorResponse) Inject(call *Call) (*http.Response, error) {
	if call.delay(e.after); call.Context().Err() != nil {
		return nil, call.Context().Err()
	}
	return refuse(call.Request, e.code), nil
}
