package fault

import (
	"net/http"
	"syscall"
)

// ConnectionReset resets the connection before a request reaches the API server. ConnectionResetBurst also resets the
// connections of later requests with the same verb, target and name.
var (
	ConnectionReset      = register(&requestFault{common: common{"connection-reset", Errors, atOneRequest}, inject: reset})
	ConnectionResetBurst = register(&requestFault{common: common{"connection-reset-burst", Errors, atOneRequest}, inject: reset, lasts: burstDuration})
)

func reset(*call) (*http.Response, error) { return nil, syscall.ECONNRESET }
