package faultinject

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"

	"k8s.io/client-go/rest"
)

// Proxy serves the API server of a config, through the config's transport and with its identity, on
// a port of this machine. An operator of any language that is pointed there meets the wire's faults.
// Its config needs the URL alone. shut ends it and all that goes through it.
func Proxy(config *rest.Config) (server string, shut func(), err error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return "", nil, err
	}
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host})
			request.Out.Header.Del("Authorization") // the identity is the config's
		},
		Transport:     transport,
		FlushInterval: -1, // a watch's events are waited for
		// A broken connection is what the operator gets, not an answer that no API server gives.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     log.New(io.Discard, "", 0), // of connections that faults break
	}
	serving := &http.Server{Handler: proxy}
	go func() { _ = serving.Serve(listener) }() // it ends with shut
	return "http://" + listener.Addr().String(), func() { _ = serving.Close() }, nil
}
