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

// Proxy serves the API server of a config on a local port, through the config's transport and with its identity. An
// operator in any language that is pointed there meets the injector's faults; its kubeconfig needs only the URL. shut
// closes the port and all connections.
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
			request.Out.Header.Del("Authorization") // the identity is that of config
		},
		Transport:     transport,
		FlushInterval: -1, // a watch's events are flushed at once
		// The operator gets a broken connection, not a response that no API server sends.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     log.New(io.Discard, "", 0), // faults break connections on purpose
	}
	serving := &http.Server{Handler: proxy}
	go func() { _ = serving.Serve(listener) }() // it returns when shut closes it
	return "http://" + listener.Addr().String(), func() { _ = serving.Close() }, nil
}
