package fault

import "net/http"

// CrashBefore crashes the operator just before a write, and CrashAfter crashes it just after a write.
var (
	CrashBefore = register(crash{"crash-before"})
	CrashAfter  = register(crash{"crash-after"})
)

type crash struct{ name string }

func (c crash) Name() string                     { return c.name }
func (crash) Category() Category                 { return Crashes }
func (crash) Points(ref *Reference) []RequestKey { return ref.Writes }

func (c crash) Inject(call *Call) (*http.Response, error) {
	if c == CrashAfter {
		call.sendUnanswered()
	}
	return nil, errCrash
}
