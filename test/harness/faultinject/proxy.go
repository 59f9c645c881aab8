package faultinject

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/rest"
)

// Serve serves the API server of a config on a listener, through the config's transport and with its identity. An
// operator in any language that is pointed there meets the injector's faults; its kubeconfig needs only the URL. shut
// closes the listener and all connections.
//
// Leases are served to this listener's clients alone, and there are none at first, so an operator with leader election
// on leads at once: no other instance competes with it, and it need not wait until a crashed one's Lease expires.
func Serve(listener net.Listener, config *rest.Config) (shut func(), err error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host})
			request.Out.Header.Del("Authorization") // the identity is that of config
		},
		Transport:     transport,
		FlushInterval: -1, // a watch's events are flushed at once
		// The operator gets a broken connection, not a response that no API server sends.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     log.New(io.Discard, "", 0), // faults break connections on purpose
	}
	serving := &http.Server{Handler: &leaseServer{others: proxy, held: map[string]*coordinationv1.Lease{}}, ErrorLog: proxy.ErrorLog}
	go func() { _ = serving.Serve(listener) }() // it returns when shut closes it
	return func() { _ = serving.Close() }, nil
}
