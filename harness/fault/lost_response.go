package fault

import (
	"fmt"
	"net/http"
	"syscall"
)

// LostResponse resets the connection after a write has succeeded, so that the operator does not receive the result.
// The operator continues to run.
var LostResponse = register(lostResponse{})

type lostResponse struct{}

func (lostResponse) Name() string                       { return "lost-response" }
func (lostResponse) Category() Category                 { return Crashes }
func (lostResponse) Points(ref *Reference) []RequestKey { return ref.Writes }

func (lostResponse) Inject(call *Call) (*http.Response, error) {
	call.sendUnanswered()
	return nil, fmt.Errorf("the response is lost: %w", syscall.ECONNRESET)
}
