package fault

import (
	"net/http"
	"syscall"
)

// ConnectionReset resets the connection before a request reaches the API server. ConnectionResetBurst also resets the
// connections of later requests with the same verb, target and name.
var (
	ConnectionReset      = register(connectionReset{"connection-reset"})
	ConnectionResetBurst = register(burst{connectionReset{"connection-reset-burst"}})
)

type connectionReset struct{ name string }

func (c connectionReset) Name() string                     { return c.name }
func (connectionReset) Category() Category                 { return Errors }
func (connectionReset) Points(ref *Reference) []RequestKey { return ref.chooseOne(ref.requests()) }

func (connectionReset) Inject(*Call) (*http.Response, error) { return nil, syscall.ECONNRESET }
