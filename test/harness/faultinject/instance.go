package faultinject

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/test/harness/record"
)

// errDisconnected is what an operator hears that has died and whose goroutines go on.
var errDisconnected = errors.New("this incarnation of the operator is dead")

// Instance is one incarnation of an operator.
type Instance struct {
	injector     *Injector
	sending      sync.RWMutex // parseEvent while a request is under way, so that a death can wait for those
	ended        bool
	disconnected chan struct{} // closed when over
	crashed      chan struct{} // closed when a fault has killed it and nothing of it is under way
	closing      sync.Once
	crashing     sync.Once
}

// NewInstance returns the config of a new incarnation, and the incarnation. Those before must have ended.
func (in *Injector) NewInstance(config *rest.Config) (*rest.Config, *Instance) {
	instance := &Instance{injector: in, disconnected: make(chan struct{}), crashed: make(chan struct{})}
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return in.Requests.Wrap(&roundTripper{instance, next})
	})
	in.mu.Lock()
	defer in.mu.Unlock()
	in.starts++
	in.instance = instance
	in.startup = in.startup.next()
	in.burstUntil = time.Time{}
	return config, instance
}

// Crashed is closed when a fault has killed this incarnation: no request of it reaches the API server
// any more, whatever its goroutines still do.
func (i *Instance) Crashed() <-chan struct{} { return i.crashed }

// End cuts the incarnation off, as a crash does, and waits until none of its requests is under way.
func (i *Instance) End() {
	i.closing.Do(func() { close(i.disconnected) }) // watches end, and waits
	i.sending.Lock()
	i.ended = true
	i.sending.Unlock()
}

// crashInstance is the end that a fault brings.
func (i *Instance) crash() {
	i.End()
	i.crashing.Do(func() { close(i.crashed) })
}

// roundTripper is the transport of a life.
type roundTripper struct {
	*Instance
	next http.RoundTripper
}

// WrappedRoundTripper lets client-go look through to the transport below.
func (t *roundTripper) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip sends a request, unless the fault befalls it.
func (t *roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	about := record.Classify(request)
	t.injector.scope.rewrite(request, about)
	forceJSON(request)

	t.sending.RLock()
	if t.ended {
		t.sending.RUnlock()
		return nil, errDisconnected
	}
	point, kind := t.injector.match(about)
	if kind == CrashBefore || kind == CrashAfter || kind == DelayedWrite {
		return nil, t.crashAt(kind, request, point, about)
	}
	defer t.sending.RUnlock()
	switch {
	case kind == None:
		return t.send(request, point, about)
	case kind == LostResponse:
		response, err := t.send(request, point, about)
		if err == nil {
			_ = response.Body.Close()
		}
		return nil, fmt.Errorf("the answer is lost: %w", syscall.ECONNRESET)
	case kind == SlowReads, kind == SlowWrites:
		t.addLatency(request.Context())
		return t.send(request, point, about)
	case kind.status() == 0:
		return nil, syscall.ECONNRESET
	default:
		return errorResponse(request, kind.status()), nil
	}
}

// crashAt is the operator's death at a request, which the caller has begun to send.
func (t *roundTripper) crashAt(kind Type, request *http.Request, point RequestKey, about *record.Request) error {
	switch kind {
	case CrashAfter:
		if response, err := t.send(request, point, about); err == nil {
			_ = response.Body.Close()
		}
	case DelayedWrite:
		t.delayWrite(request, point, about)
	}
	t.sending.RUnlock()
	t.crash()
	return errDisconnected
}

// delayWrite keeps a request that is on its way until Proceed.
func (t *roundTripper) delayWrite(request *http.Request, point RequestKey, about *record.Request) {
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return // it has never been on its way
		}
	}
	late := request.Clone(context.WithoutCancel(request.Context()))
	late.Body = io.NopCloser(bytes.NewReader(body))
	t.injector.mu.Lock()
	defer t.injector.mu.Unlock()
	t.injector.toRelease = append(t.injector.toRelease, func() {
		if response, err := t.send(late, point, about); err == nil {
			_ = response.Body.Close()
		}
	})
	t.injector.signalPending()
}

func (t *roundTripper) addLatency(ctx context.Context) {
	select {
	case <-time.After(addedLatency):
	case <-ctx.Done():
	case <-t.disconnected:
	}
}

// send passes a request on and learns from its answer.
func (t *roundTripper) send(request *http.Request, point RequestKey, about *record.Request) (*http.Response, error) {
	if version := t.injector.staleVersion(point.Target); version != "" {
		if refused := t.listStale(request, about, version); refused != nil {
			return refused, nil
		}
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	switch {
	case about.Verb == "watch" && response.StatusCode == http.StatusOK:
		t.injector.recordOpened(about.Verb, point.Target)
		response.Body = newStream(t.Instance, point.Target, response.Body)
	case request.URL.Query().Has("dryRun"): // it changes nothing
	case about.Verb == "get" || about.Verb == "list" || about.IsWrite():
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			return nil, err
		}
		var object responseObject
		if json.Unmarshal(body, &object) == nil { // what is no object, such as a log, has no version
			if object.Kind == "Status" {
				object = responseObject{}
			}
			t.injector.recordResponse(point, about, response.StatusCode, object)
			if about.Verb == "list" {
				t.injector.recordOpened(about.Verb, point.Target)
				t.injector.setObservedVersion(point.Target, object.Metadata.ResourceVersion)
			}
		}
		response.Body = io.NopCloser(bytes.NewReader(body))
	}
	return response, nil
}

// listStale has a restarted operator begin with the state that its predecessor had seen last. A
// watch that would bring its own list is refused, as by API servers that do not stream lists.
func (t *roundTripper) listStale(request *http.Request, about *record.Request, version string) *http.Response {
	query := request.URL.Query()
	switch {
	case about.Verb == "watch" && query.Get("sendInitialEvents") == "true":
		return errorResponse(request, http.StatusUnprocessableEntity)
	case about.Verb == "list":
		query.Set("resourceVersion", version)
		query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
		request.URL.RawQuery = query.Encode()
	}
	return nil
}

// forceJSON has the API server answer in the one encoding that is understood here. What the operator can
// decompress is not asked for: the transport below asks for what it decompresses itself.
func forceJSON(request *http.Request) {
	var accepted []string
	for kind := range strings.SplitSeq(request.Header.Get("Accept"), ",") {
		if !strings.Contains(kind, "protobuf") && !strings.Contains(kind, "cbor") {
			accepted = append(accepted, kind)
		}
	}
	if len(accepted) == 0 {
		accepted = []string{"application/json"}
	}
	request.Header.Set("Accept", strings.Join(accepted, ","))
	request.Header.Del("Accept-Encoding")
}

// errorResponse is an API server's refusal.
func errorResponse(request *http.Request, code int) *http.Response {
	reason := map[int]metav1.StatusReason{
		http.StatusConflict: metav1.StatusReasonConflict, http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests,
		http.StatusInternalServerError: metav1.StatusReasonInternalError, http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable,
		http.StatusGatewayTimeout: metav1.StatusReasonTimeout, http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
		http.StatusGone: metav1.StatusReasonExpired,
	}[code]
	response := &http.Response{
		Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(bytes.NewReader(statusBody(code, reason))),
	}
	if code == http.StatusTooManyRequests {
		response.Header.Set("Retry-After", "1")
	}
	return response
}

func statusBody(code int, reason metav1.StatusReason) []byte {
	status, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "dealt by a fault",
	})
	if err != nil {
		panic(err) // a Status has nothing that JSON cannot say
	}
	return status
}
