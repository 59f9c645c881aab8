package fault

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/operator-assay/assay/harness/record"
)

// Serve runs a proxy that forwards requests to the API server in config, using the transport and identity of config. An
// operator in any language can use the proxy, because its kubeconfig needs only the URL of the proxy. The shut function
// closes the listener and all connections. Changes to shared resources are not stored; see IsShared.
func Serve(listener net.Listener, config *rest.Config) (shut func(), err error) {
	transport, err := newTransport(config)
	if err != nil {
		return nil, err
	}
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			if changesShared(request.In) {
				setDryRun(request.Out)
			}
			request.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host})
			request.Out.Header.Del("Authorization") // use the identity of config
		},
		Transport:     transport,
		FlushInterval: -1, // flush watch events immediately
		// Abort the connection, because an API server would never send the default error response of a proxy.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     log.New(io.Discard, "", 0), // ignore the errors that faults cause
	}
	ctx, cancel := context.WithCancel(context.Background())
	serving := &http.Server{
		Handler:     proxy,
		BaseContext: func(net.Listener) context.Context { return ctx }, // Close does not close upgraded connections
		ErrorLog:    proxy.ErrorLog,
	}
	go func() { _ = serving.Serve(listener) }() // returns when shut closes the listener
	return func() { cancel(); _ = serving.Close() }, nil
}

// transport sends upgrade requests, such as exec requests, over HTTP/1.1, because HTTP/2 does not support them.
type transport struct{ multiplexed, upgrading http.RoundTripper }

func newTransport(config *rest.Config) (*transport, error) {
	multiplexed, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.NextProtos = []string{"http/1.1"}
	upgrading, err := rest.TransportFor(config)
	return &transport{multiplexed, upgrading}, err
}

func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	if httpstream.IsUpgradeRequest(request) {
		return t.upgrading.RoundTrip(request)
	}
	return t.multiplexed.RoundTrip(request)
}

func setDryRun(request *http.Request) {
	query := request.URL.Query()
	query.Set("dryRun", metav1.DryRunAll)
	request.URL.RawQuery = query.Encode()
	if request.Method == http.MethodDelete {
		request.Body, request.ContentLength = http.NoBody, 0 // the API server ignores the query if there is a body
	}
}

// changesShared reports whether a request changes a cluster-scoped object that all runs share. For example, an operator
// may write its webhook certificate to a CRD, or create a webhook configuration that makes the API server send the
// objects of all runs to this operator. Serve turns such changes into dry runs, which return the usual response but
// store nothing. CRDs can still be created.
func changesShared(request *http.Request) bool {
	about := record.Classify(request)
	if about.Verb == "create" {
		return IsWebhookConfiguration(about.Target())
	}
	return IsShared(about.Target()) && about.IsWrite()
}

// IsShared reports whether a resource is shared by all runs in the cluster.
func IsShared(resource string) bool {
	return IsWebhookConfiguration(resource) || resource == "customresourcedefinitions.apiextensions.k8s.io"
}

// IsWebhookConfiguration reports whether a resource configures admission webhooks.
func IsWebhookConfiguration(resource string) bool {
	return resource == "mutatingwebhookconfigurations.admissionregistration.k8s.io" || resource == "validatingwebhookconfigurations.admissionregistration.k8s.io"
}
