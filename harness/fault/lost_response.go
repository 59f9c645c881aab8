package fault

import (
	"fmt"
	"net/http"
	"syscall"
)

// LostResponse resets the connection after a write has succeeded, so that the operator does not receive the result.
// The operator continues to run.
var LostResponse = register(&requestFault{common: common{"lost-response", Crashes, atWrites}, inject: func(call *call) (*http.Response, error) {
	call.sendUnanswered()
	return nil, fmt.Errorf("the response is lost: %w", syscall.ECONNRESET)
}})
