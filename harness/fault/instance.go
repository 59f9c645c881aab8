package fault

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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/record"
)

// errDisconnected is what the goroutines of an instance receive that has crashed or ended.
var errDisconnected = errors.New("this instance of the operator is disconnected")

// Instance is one start of the operator: a manager, or a process.
type Instance struct {
	injector   *Injector
	locks      locks
	inFlight   sync.RWMutex    // held for reading during a request, so that End waits for it
	connected  context.Context // until End
	disconnect context.CancelCauseFunc
	intact     context.Context // until a fault has crashed it and none of its requests is under way
	noteCrash  context.CancelFunc
}

// NewInstance returns a config whose requests pass through the injector, and the instance. Earlier instances must
// have ended.
//
// The locks of leader elections are kept for this instance alone, and there are none at first, so an operator with leader
// election on leads at once: no other instance competes with it, and it need not wait until a crashed one's lock expires.
// They are Leases, and what operators used before: ConfigMaps and Endpoints.
func (in *Injector) NewInstance(config *rest.Config) (*rest.Config, *Instance) {
	instance := &Instance{injector: in, locks: locks{held: map[string]lock{}}}
	instance.connected, instance.disconnect = context.WithCancelCause(context.Background())
	instance.intact, instance.noteCrash = context.WithCancel(context.Background())
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &lockTransport{instance, in.Requests.Wrap(&roundTripper{instance, next})}
	})
	in.mu.Lock()
	defer in.mu.Unlock()
	in.starts++
	in.Requests.SetInstance(in.starts)
	in.instance = instance
	in.startup = in.startup.next()
	for _, fault := range in.faults {
		fault.burstUntil = time.Time{}
	}
	return config, instance
}

// Crashed is closed when a fault has crashed the instance. No request of it reaches the API server any more, whatever
// its goroutines still do.
func (i *Instance) Crashed() <-chan struct{} { return i.intact.Done() }

// End disconnects the instance, as a crash does, and waits until none of its requests is under way.
func (i *Instance) End() {
	i.disconnect(errDisconnected) // ends watches and delays
	i.inFlight.Lock()
	defer i.inFlight.Unlock()
}

// crash is the end that a fault causes.
func (i *Instance) crash() {
	i.End()
	i.noteCrash()
}

// roundTripper is the transport of an instance.
type roundTripper struct {
	*Instance
	next http.RoundTripper
}

// WrappedRoundTripper lets client-go find the transport below.
func (t *roundTripper) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip sends a request, unless the fault applies to it.
func (t *roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	about := record.Classify(request)
	t.injector.scope.rewrite(request, about)
	forceJSON(request)

	t.inFlight.RLock()
	if t.connected.Err() != nil {
		t.inFlight.RUnlock()
		return nil, errDisconnected
	}
	key, faultType := t.injector.match(about)
	if faultType == CrashBefore || faultType == CrashAfter || faultType == DelayedWrite {
		return nil, t.crashAt(faultType, request, key, about)
	}
	defer t.inFlight.RUnlock()
	switch {
	case faultType == None:
		return t.send(request, key, about)
	case faultType == Replaced:
		if t.injector.Replace != nil {
			t.injector.Replace()
		}
		return t.send(request, key, about)
	case faultType == LostResponse:
		response, err := t.send(request, key, about)
		if err == nil {
			_ = response.Body.Close()
		}
		return nil, fmt.Errorf("the response is lost: %w", syscall.ECONNRESET)
	case faultType == SlowReads, faultType == SlowWrites:
		t.delay(request.Context(), addedLatency)
		return t.send(request, key, about)
	case faultType == SlowError500:
		t.delay(request.Context(), slowError)
		if err := request.Context().Err(); err != nil {
			return nil, err
		}
		return errorResponse(request, statuses[faultType]), nil
	case faultType == ConnectionReset, faultType == ConnectionResetBurst:
		return nil, syscall.ECONNRESET
	case statuses[faultType] != 0:
		return errorResponse(request, statuses[faultType]), nil
	default:
		panic(fmt.Sprintf("what becomes of a request under %s is not implemented", faultType))
	}
}

// crashAt crashes the operator at a request that the caller has begun to send.
func (t *roundTripper) crashAt(faultType Type, request *http.Request, key RequestKey, about *record.Request) error {
	switch faultType {
	case CrashAfter:
		if response, err := t.send(request, key, about); err == nil {
			_ = response.Body.Close()
		}
	case DelayedWrite:
		t.delayWrite(request, key, about)
	}
	t.inFlight.RUnlock()
	t.crash()
	return errDisconnected
}

// delayWrite keeps a request until Release.
func (t *roundTripper) delayWrite(request *http.Request, key RequestKey, about *record.Request) {
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return // it was never sent
		}
	}
	late := request.Clone(context.WithoutCancel(request.Context()))
	late.Body = io.NopCloser(bytes.NewReader(body))
	t.injector.mu.Lock()
	defer t.injector.mu.Unlock()
	kept := len(t.injector.withheld)
	t.injector.withheld = append(t.injector.withheld, Withheld{Target: key.String(), IsWrite: true, From: time.Now()})
	t.injector.toRelease = append(t.injector.toRelease, func() {
		t.injector.mu.Lock()
		t.injector.withheld[kept].To = time.Now()
		t.injector.mu.Unlock()
		if response, err := t.send(late, key, about); err == nil {
			_ = response.Body.Close()
		}
	})
	t.injector.signalPending()
}

// delay returns after a time, or when nobody waits for the response any more.
func (t *roundTripper) delay(ctx context.Context, by time.Duration) {
	select {
	case <-time.After(by):
	case <-ctx.Done():
	case <-t.connected.Done():
	}
}

// send sends a request and records the response.
func (t *roundTripper) send(request *http.Request, key RequestKey, about *record.Request) (*http.Response, error) {
	if version := t.injector.staleVersion(key.Target); version != "" {
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
		t.injector.recordOpened(about.Verb, key.Target)
		response.Body = newStream(t.Instance, key.Target, response.Body)
	case response.StatusCode == http.StatusSwitchingProtocols || about.Subresource == "log":
		body := response.Body
		response.Body = &openBody{response.Body, context.AfterFunc(t.connected, func() { _ = body.Close() })}
	case request.URL.Query().Has("dryRun"): // it changes nothing
	case about.Verb == "get" || about.Verb == "list" || about.IsWrite():
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			return nil, err
		}
		var object responseObject
		if json.Unmarshal(body, &object) == nil { // a response that is no object, such as that of a health check, has no version
			if object.Kind == "Status" {
				object = responseObject{}
			}
			t.injector.recordResponse(key, about, response.StatusCode, object)
			if about.Verb == "list" {
				t.injector.recordOpened(about.Verb, key.Target)
				t.injector.setObservedVersion(key.Target, object.ResourceVersion)
			}
		}
		response.Body = io.NopCloser(bytes.NewReader(body))
	}
	return response, nil
}

// listStale gives a restarted operator the state that the instance before had seen last. A watch that would begin
// with a list is refused, as by API servers that do not stream lists.
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

// forceJSON has the API server answer in JSON, the one encoding that the injector reads. It also drops the operator's
// Accept-Encoding: the transport below negotiates the compression that it decodes itself.
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

// errorResponse is an error response of an API server.
func errorResponse(request *http.Request, code int) *http.Response {
	reason := apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", "", 0, false).Status().Reason
	response := jsonResponse(request, code, statusBody(code, reason))
	if code == http.StatusTooManyRequests {
		response.Header.Set("Retry-After", "1")
	}
	return response
}

// jsonResponse is a response of an API server.
func jsonResponse(request *http.Request, code int, body []byte) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(bytes.NewReader(body)),
	}
}

func statusBody(code int, reason metav1.StatusReason) []byte {
	status, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "injected fault",
	})
	if err != nil {
		panic(err) // a Status always marshals
	}
	return status
}
