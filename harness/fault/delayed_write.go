package fault

import "net/http"

// DelayedWrite simulates a leader that loses its leadership during a write. The write reaches the API server only
// after the next leader is idle.
var DelayedWrite = register(&requestFault{common: common{"delayed-write", LeaderChanges, atWrites}, inject: func(call *call) (*http.Response, error) {
	call.delayUntilRelease()
	return nil, errCrash
}})
