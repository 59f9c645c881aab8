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

// Serve serves the API server of a config on a listener, through the config's transport and with its identity. An
// operator in any language that is pointed there meets the injector's faults; its kubeconfig needs only the URL. shut
// closes the listener and all connections.
//
// What a cluster has once is changed for no client: see IsShared.
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
			request.Out.Header.Del("Authorization") // the identity is that of config
		},
		Transport:     transport,
		FlushInterval: -1, // a watch's events are flushed at once
		// The operator gets a broken connection, not a response that no API server sends.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
		ErrorLog:     log.New(io.Discard, "", 0), // faults break connections on purpose
	}
	ctx, cancel := context.WithCancel(context.Background())
	serving := &http.Server{
		Handler:     proxy,
		BaseContext: func(net.Listener) context.Context { return ctx }, // Close does not know of upgraded connections
		ErrorLog:    proxy.ErrorLog,
	}
	go func() { _ = serving.Serve(listener) }() // it returns when shut closes it
	return func() { cancel(); _ = serving.Close() }, nil
}

// transport sends requests that ask for another protocol, such as those of exec, over HTTP/1.1: HTTP/2 cannot upgrade.
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

// changesShared tells whether a request changes what the cluster has once and all instances share: an operator that makes the
// certificate of its webhooks writes it into their configurations and into the CRDs it converts, and some create those
// configurations by themselves, with which the API server would ask one run's operator about the objects of all. Such a
// change is a dry run: it is answered as ever, and not stored. A CRD that is created is.
func changesShared(request *http.Request) bool {
	about := record.Classify(request)
	if about.Verb == "create" {
		return IsWebhookConfiguration(about.Target())
	}
	return IsShared(about.Target()) && about.IsWrite() && about.Name != ""
}

// IsShared tells whether changes of a resource, such as "customresourcedefinitions.apiextensions.k8s.io", are answered by
// Serve and not stored.
func IsShared(resource string) bool {
	return IsWebhookConfiguration(resource) || resource == "customresourcedefinitions.apiextensions.k8s.io"
}

// IsWebhookConfiguration tells whether a resource's objects say which admission webhooks there are. Serve stores none.
func IsWebhookConfiguration(resource string) bool {
	return resource == "mutatingwebhookconfigurations.admissionregistration.k8s.io" || resource == "validatingwebhookconfigurations.admissionregistration.k8s.io"
}
