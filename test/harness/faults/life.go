package faults

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

	"github.com/operator-assay/assay/test/harness/oracle"
)

// errDead is what an operator hears that has died and whose goroutines go on.
var errDead = errors.New("this incarnation of the operator is dead")

// Life is one incarnation of an operator.
type Life struct {
	wire    *Wire
	sending sync.RWMutex // read while a request is under way, so that a death can wait for those
	over    bool
	dead    chan struct{} // closed when over
	crashed chan struct{} // closed when a fault has killed it and nothing of it is under way
	dying   sync.Once
	killed  sync.Once
}

// NewLife returns the config of a new incarnation, and the incarnation. Those before must have ended.
func (w *Wire) NewLife(config *rest.Config) (*rest.Config, *Life) {
	life := &Life{wire: w, dead: make(chan struct{}), crashed: make(chan struct{})}
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return w.Requests.Wrap(&living{life, next})
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lives++
	w.life = life
	w.waking = w.waking.another()
	w.storm = time.Time{}
	return config, life
}

// Crashed is closed when a fault has killed this incarnation: no request of it reaches the API server
// any more, whatever its goroutines still do.
func (l *Life) Crashed() <-chan struct{} { return l.crashed }

// End cuts the incarnation off, as a crash does, and waits until none of its requests is under way.
func (l *Life) End() {
	l.dying.Do(func() { close(l.dead) }) // watches end, and waits
	l.sending.Lock()
	l.over = true
	l.sending.Unlock()
}

// crash is the end that a fault brings.
func (l *Life) crash() {
	l.End()
	l.killed.Do(func() { close(l.crashed) })
}

// living is the transport of a life.
type living struct {
	*Life
	next http.RoundTripper
}

// WrappedRoundTripper lets client-go look through to the transport below.
func (t *living) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip sends a request, unless the fault befalls it.
func (t *living) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	about := oracle.Classify(request)
	t.wire.scope.apply(request, about)
	onlyJSON(request)

	t.sending.RLock()
	if t.over {
		t.sending.RUnlock()
		return nil, errDead
	}
	point, kind := t.wire.meet(about)
	if kind == CrashBefore || kind == CrashAfter || kind == LateWrite {
		return nil, t.die(kind, request, point, about)
	}
	defer t.sending.RUnlock()
	switch {
	case kind == None:
		return t.send(request, point, about)
	case kind == LostAnswer:
		response, err := t.send(request, point, about)
		if err == nil {
			_ = response.Body.Close()
		}
		return nil, fmt.Errorf("the answer is lost: %w", syscall.ECONNRESET)
	case kind == SlowReads, kind == SlowWrites:
		t.pause(request.Context())
		return t.send(request, point, about)
	case kind.status() == 0:
		return nil, syscall.ECONNRESET
	default:
		return refuse(request, kind.status()), nil
	}
}

// die is the operator's death at a request, which the caller has begun to send.
func (t *living) die(kind Kind, request *http.Request, point Point, about *oracle.Request) error {
	switch kind {
	case CrashAfter:
		if response, err := t.send(request, point, about); err == nil {
			_ = response.Body.Close()
		}
	case LateWrite:
		t.postpone(request, point, about)
	}
	t.sending.RUnlock()
	t.crash()
	return errDead
}

// postpone keeps a request that is on its way until Proceed.
func (t *living) postpone(request *http.Request, point Point, about *oracle.Request) {
	var body []byte
	if request.Body != nil {
		var err error
		if body, err = io.ReadAll(request.Body); err != nil {
			return // it has never been on its way
		}
	}
	late := request.Clone(context.WithoutCancel(request.Context()))
	late.Body = io.NopCloser(bytes.NewReader(body))
	t.wire.mu.Lock()
	defer t.wire.mu.Unlock()
	t.wire.pending = append(t.wire.pending, func() {
		if response, err := t.send(late, point, about); err == nil {
			_ = response.Body.Close()
		}
	})
	t.wire.last()
}

func (t *living) pause(ctx context.Context) {
	select {
	case <-time.After(slowness):
	case <-ctx.Done():
	case <-t.dead:
	}
}

// send passes a request on and learns from its answer.
func (t *living) send(request *http.Request, point Point, about *oracle.Request) (*http.Response, error) {
	if version := t.wire.oldView(point.Target); version != "" {
		if refused := t.askForOldList(request, about, version); refused != nil {
			return refused, nil
		}
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	switch {
	case about.Verb == "watch" && response.StatusCode == http.StatusOK:
		t.wire.opens(about.Verb, point.Target)
		response.Body = newStream(t.Life, point.Target, response.Body)
	case request.URL.Query().Has("dryRun"): // it changes nothing
	case about.Verb == "get" || about.Verb == "list" || about.IsWrite():
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			return nil, err
		}
		var object answer
		if json.Unmarshal(body, &object) == nil { // what is no object, such as a log, has no version
			if object.Kind == "Status" {
				object = answer{}
			}
			t.wire.answered(point, about, response.StatusCode, object)
			if about.Verb == "list" {
				t.wire.opens(about.Verb, point.Target)
				t.wire.saw(point.Target, object.Metadata.ResourceVersion)
			}
		}
		response.Body = io.NopCloser(bytes.NewReader(body))
	}
	return response, nil
}

// askForOldList has a restarted operator begin with the state that its predecessor had seen last. A
// watch that would bring its own list is refused, as by API servers that do not stream lists.
func (t *living) askForOldList(request *http.Request, about *oracle.Request, version string) *http.Response {
	query := request.URL.Query()
	switch {
	case about.Verb == "watch" && query.Get("sendInitialEvents") == "true":
		return refuse(request, http.StatusUnprocessableEntity)
	case about.Verb == "list":
		query.Set("resourceVersion", version)
		query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
		request.URL.RawQuery = query.Encode()
	}
	return nil
}

// onlyJSON has the API server answer in the one encoding that is understood here. What the operator can
// decompress is not asked for: the transport below asks for what it decompresses itself.
func onlyJSON(request *http.Request) {
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

// refuse is an API server's refusal.
func refuse(request *http.Request, code int) *http.Response {
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
		Body: io.NopCloser(bytes.NewReader(statusOf(code, reason))),
	}
	if code == http.StatusTooManyRequests {
		response.Header.Set("Retry-After", "1")
	}
	return response
}

func statusOf(code int, reason metav1.StatusReason) []byte {
	status, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "dealt by a fault",
	})
	if err != nil {
		panic(err) // a Status has nothing that JSON cannot say
	}
	return status
}
