package fault

import (
	"fmt"
	"net/http"
	"syscall"
)

// LostResponse breaks the connection after a write was done, so that the operator does not learn of the result. The operator
// keeps running.
var LostResponse = register(lostResponse{})

type lostResponse struct{}

func (lostResponse) Name() string                       { return "lost-response" }
func (lostResponse) Category() Category                 { return Crashes }
func (lostResponse) Points(ref *Reference) []RequestKey { return ref.Writes }

func (lostResponse) Inject(call *Call) (*http.Response, error) {
	call.sendUnanswered()
	return nil, fmt.Errorf("the response is lost: %w", syscall.ECONNRESET)
}
