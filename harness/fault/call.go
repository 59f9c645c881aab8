package fault

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/operator-assay/assay/harness/record"
)

// call is an operator request that the injector forwards or answers.
type call struct {
	*http.Request
	transport *roundTripper
	key       RequestKey
	about     *record.Request
}

var errCrash = errors.New("the operator crashes")

func (c *call) send() (*http.Response, error) {
	if c.about.Verb == "watch" && httpstream.IsUpgradeRequest(c.Request) {
		// The injector cannot delay the events of a WebSocket. A response with code 200 makes fabric8's client open an HTTP
		// watch at once. After a 503, it would first retry for 19 s.
		return respond(c.Request, http.StatusOK, &metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Message: "WebSocket watches are not supported: use an HTTP watch",
		}), nil
	}
	injector, target := c.transport.injector, c.key.Target
	if version := injector.staleVersion(target); version != "" {
		if refused := c.listStale(version); refused != nil {
			return refused, nil
		}
	}
	response, err := c.transport.next.RoundTrip(c.Request)
	if err != nil {
		return nil, err
	}
	switch {
	case c.about.Verb == "watch" && response.StatusCode == http.StatusOK:
		injector.recordOpened(c.about.Verb, target)
		if encoding := response.Header.Get("Content-Type"); strings.Contains(encoding, "json") || strings.Contains(encoding, "protobuf") { // not CBOR
			response.Body = newStream(c.transport.Instance, target, response)
		}
	case response.StatusCode == http.StatusSwitchingProtocols, c.about.Subresource == "log", c.about.Subresource == "proxy": // the body may stay open
	case c.URL.Query().Has("dryRun"): // a dry run changes nothing
	case c.about.Verb == "get" || c.about.Verb == "list" || c.about.IsWrite():
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			return nil, err
		}
		if object, known := parseObject(body); known {
			injector.Journal.recordResponse(c.key, c.about, response.StatusCode, object)
			if c.about.Verb == "list" {
				injector.recordOpened(c.about.Verb, target)
				injector.received(target, watch.Bookmark, object) // like a bookmark, a list reports only a resourceVersion
			}
		}
		response.Body = io.NopCloser(bytes.NewReader(body))
	}
	return response, nil
}

// listStale changes a list request so that a restarted operator gets an old version of the list. A streaming list
// cannot return an old version, so it gets an error response, and the client falls back to a list request.
func (c *call) listStale(version string) *http.Response {
	query := c.URL.Query()
	switch {
	case c.about.Verb == "watch" && query.Get("sendInitialEvents") == "true":
		return refuse(c.Request, http.StatusUnprocessableEntity)
	case c.about.Verb == "list":
		query.Set("resourceVersion", version)
		query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
		c.URL.RawQuery = query.Encode()
	}
	return nil
}

func (c *call) sendUnanswered() {
	if response, err := c.send(); err == nil {
		_ = response.Body.Close()
	}
}

func (c *call) delay(by time.Duration) {
	select {
	case <-time.After(by):
	case <-c.Context().Done():
	case <-c.transport.end.Done():
	}
}

func (c *call) delayUntilRelease() {
	if _, err := bufferBody(c.Request); err != nil {
		return // the request cannot be sent
	}
	late := *c
	late.Request = c.Clone(context.WithoutCancel(c.Context()))
	in := c.transport.injector
	in.mu.Lock()
	defer in.mu.Unlock()
	kept := len(in.watches.delays)
	in.watches.delays = append(in.watches.delays, Delay{Target: c.key.String(), IsWrite: true, From: time.Now()})
	in.release.steps = append(in.release.steps, func() {
		in.mu.Lock()
		in.watches.delays[kept].To = time.Now()
		in.mu.Unlock()
		late.sendUnanswered()
	})
	in.release.pending.send()
}

func bufferBody(request *http.Request) ([]byte, error) {
	if request.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(request.Body)
	_ = request.Body.Close()
	request.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}
