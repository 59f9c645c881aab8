package fault

import "net/http"

// DelayedWrite simulates a leader that loses its leadership during a write. The write reaches the API server only
// after the next leader is idle.
var DelayedWrite = register(delayedWrite{})

type delayedWrite struct{}

func (delayedWrite) Name() string                       { return "delayed-write" }
func (delayedWrite) Category() Category                 { return LeaderChanges }
func (delayedWrite) Points(ref *Reference) []RequestKey { return ref.Writes }

func (delayedWrite) Inject(call *Call) (*http.Response, error) {
	call.delayUntilRelease()
	return nil, errCrash
}
