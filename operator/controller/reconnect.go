package controller

import (
	"net/http"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// reconnecting is a transport that sends a watch again every reconnectInterval while nobody listens at the API server's
// address. client-go by itself waits ever longer, up to a minute: after an outage the operator would look at its own view
// for as long as the outage took. A refused connection costs nobody anything, unlike an answer of a server that is too
// busy, which client-go still waits for.
type reconnecting struct{ next http.RoundTripper }

func (t reconnecting) RoundTrip(request *http.Request) (*http.Response, error) {
	for {
		response, err := t.next.RoundTrip(request)
		if !utilnet.IsConnectionRefused(err) || request.URL.Query().Get("watch") != "true" {
			return response, err
		}
		select {
		case <-time.After(reconnectInterval):
		case <-request.Context().Done():
			return nil, err
		}
	}
}

// WrappedRoundTripper lets client-go find the transport below.
func (t reconnecting) WrappedRoundTripper() http.RoundTripper { return t.next }
