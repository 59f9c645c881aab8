package fault

import (
	"net/http"
	"syscall"
)

// ConnectionReset breaks the connection before the API server receives a request, and ConnectionResetBurst also for further
// requests of the same key.
var (
	ConnectionReset      = register(connectionReset{"connection-reset"})
	ConnectionResetBurst = register(burst{connectionReset{"connection-reset-burst"}})
)

type connectionReset struct{ name string }

func (c connectionReset) Name() string                     { return c.name }
func (connectionReset) Category() Category                 { return Errors }
func (connectionReset) Points(ref *Reference) []RequestKey { return ref.chooseOne(ref.requests()) }

func (connectionReset) Inject(*Call) (*http.Response, error) { return nil, syscall.ECONNRESET }
