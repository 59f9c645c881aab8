package fault

import "net/http"

// DelayedWrite is a leader that is deposed in the middle of a write: the next leader works until it is idle, and then the write
// arrives.
var DelayedWrite = register(delayedWrite{})

type delayedWrite struct{}

func (delayedWrite) Name() string                       { return "delayed-write" }
func (delayedWrite) Category() Category                 { return LeaderChanges }
func (delayedWrite) Points(ref *Reference) []RequestKey { return ref.Writes }

func (delayedWrite) Inject(call *Call) (*http.Response, error) {
	call.withhold()
	return nil, errCrash
}
