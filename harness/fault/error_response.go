package fault

import (
	"net/http"
	"slices"
	"time"
)

// Error responses to one request, or to a burst of them.
var (
	Error409      = register(errorResponse{name: "error-409", code: http.StatusConflict, onlyWrites: true, everyWrite: true})
	Error429      = register(errorResponse{name: "error-429", code: http.StatusTooManyRequests})
	Error500      = register(errorResponse{name: "error-500", code: http.StatusInternalServerError, everyWrite: true})
	Error503      = register(errorResponse{name: "error-503", code: http.StatusServiceUnavailable})
	Error504      = register(errorResponse{name: "error-504", code: http.StatusGatewayTimeout})
	ErrorBurst409 = register(burst{errorResponse{name: "error-burst-409", code: http.StatusConflict, onlyWrites: true}})
	ErrorBurst503 = register(burst{errorResponse{name: "error-burst-503", code: http.StatusServiceUnavailable}})
	// SlowError500 is an admission webhook that does not respond: the write fails when the API server has waited for it.
	SlowError500 = register(errorResponse{name: "slow-error-500", code: http.StatusInternalServerError, onlyWrites: true, after: webhookTimeout})
)

// webhookTimeout is how long the API server waits for an admission webhook by default.
const webhookTimeout = 10 * time.Second

type errorResponse struct {
	name       string
	code       int
	onlyWrites bool // only writes conflict or are admitted
	everyWrite bool // it is injected at every write, and not only at one chosen request
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
