package fault

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// Call is an operator request that a fault applies to.
type Call struct {
	*http.Request
	transport *roundTripper
	key       RequestKey
	about     *record.Request
}

var errCrash = errors.New("the operator crashes")

func (c *Call) send() (*http.Response, error) { return c.transport.send(c.Request, c.key, c.about) }

func (c *Call) sendUnanswered() {
	if response, err := c.send(); err == nil {
		_ = response.Body.Close()
	}
}

func (c *Call) delay(by time.Duration) {
	select {
	case <-time.After(by):
	case <-c.Context().Done():
	case <-c.transport.end.Done():
	}
}

func (c *Call) delayUntilRelease() {
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
