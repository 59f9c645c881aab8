package fault

import "net/http"

// CrashBefore crashes the operator just before a write, and CrashAfter crashes it just after a write.
var (
	CrashBefore = register(&requestFault{common: common{"crash-before", Crashes, atWrites}, inject: func(*call) (*http.Response, error) {
		return nil, errCrash
	}})
	CrashAfter = register(&requestFault{common: common{"crash-after", Crashes, atWrites}, inject: func(call *call) (*http.Response, error) {
		call.sendUnanswered()
		return nil, errCrash
	}})
)
