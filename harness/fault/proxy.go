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

// Serve runs a proxy for the API server in config. The proxy uses the config's transport and identity, so an operator
// in any language can be tested by pointing it at the proxy. The operator's kubeconfig needs only the URL. shut closes
// the listener and all connections.
//
// Serve does not store writes to resources that the whole cluster shares; see IsShared.
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
				query := request.Out.URL.Query()
				query.Set("dryRun", metav1.DryRunAll)
				request.Out.URL.RawQuery = query.Encode()
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

// changesShared reports whether a request changes an object that all runs share. Some operators write their webhook
// certificate to webhook configurations and to the CRDs that they convert. Others create webhook configurations, which
// would make the API server send the objects of all runs to the operator of a single run. Serve turns such changes into
// dry runs: they return the usual response, but are not stored. CRDs can still be created.
func changesShared(request *http.Request) bool {
	about := record.Classify(request)
	if about.Verb == "create" {
		return IsWebhookConfiguration(about.Target())
	}
	return IsShared(about.Target()) && about.IsWrite() && about.Name != ""
}

// IsShared reports whether the whole cluster shares a resource such as CRDs. Serve does not store changes to it.
func IsShared(resource string) bool {
	return IsWebhookConfiguration(resource) || resource == "customresourcedefinitions.apiextensions.k8s.io"
}

// IsWebhookConfiguration reports whether a resource configures admission webhooks. Serve does not store such objects.
func IsWebhookConfiguration(resource string) bool {
	return resource == "mutatingwebhookconfigurations.admissionregistration.k8s.io" || resource == "validatingwebhookconfigurations.admissionregistration.k8s.io"
}
