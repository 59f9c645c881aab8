package fault

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
)

// errDisconnected is the error for all requests of an instance that has crashed or ended.
var errDisconnected = errors.New("this instance of the operator is disconnected")

// Instance is one execution of the operator, from its start until it exits. The operator is either a manager in the
// current process or a separate process.
type Instance struct {
	injector *Injector
	locks    locks
	inFlight sync.RWMutex // held for reading during a request, so that End can wait for it
	end      signal       // sent by End
	watching signal       // sent by EndWatches and End; protected by the injector's lock
	crashed  signal       // sent when a fault has crashed the instance and its requests have returned
}

// NewInstance returns an Instance and a config whose requests pass through the injector. Earlier instances must have
// ended.
//
// Each instance starts without leader election locks and never sees those of other instances. An operator with leader
// election therefore becomes the leader immediately, instead of waiting for the lock of a crashed instance to expire. A
// lock is a Lease, or a ConfigMap or Endpoints object as used by older operators.
func (in *Injector) NewInstance(config *rest.Config) (*rest.Config, *Instance) {
	instance := &Instance{injector: in, locks: locks{stored: map[string]client.Object{}}, end: newSignal(context.Background()), crashed: newSignal(context.Background())}
	instance.watching = newSignal(instance.end)
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &roundTripper{instance, next}
	})
	in.mu.Lock()
	defer in.mu.Unlock()
	in.lives.start(instance)
	in.Requests.SetInstance(in.lives.starts)
	for _, fault := range in.faults {
		fault.burstUntil = time.Time{}
	}
	return config, instance
}

// Crashed returns a channel that is closed when a fault has crashed the instance. The instance can no longer send
// requests to the API server, even if its goroutines are still running. Followed logs and exec or port-forward
// connections stay open until the operator's context or process ends.
func (i *Instance) Crashed() <-chan struct{} { return i.crashed.Done() }

// End disconnects the instance in the same way as a crash. It returns when all requests of the instance have returned.
func (i *Instance) End() {
	i.end.send() // ends watches and delays
	i.inFlight.Lock()
	defer i.inFlight.Unlock()
}

func (i *Instance) crash() {
	i.End()
	i.crashed.send()
}

// watchesOpen returns a context that is canceled when the current watches end.
func (i *Instance) watchesOpen() context.Context {
	i.injector.mu.Lock()
	defer i.injector.mu.Unlock()
	return i.watching
}

type roundTripper struct {
	*Instance
	next http.RoundTripper
}

// WrappedRoundTripper is used by client-go.
func (t *roundTripper) WrappedRoundTripper() http.RoundTripper { return t.next }

func (t *roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	about := record.Classify(request)
	if couldBeLock(about) {
		if response, err := t.answerLock(request, about); response != nil || err != nil {
			return response, err
		}
	}
	return t.injector.Requests.Record(about, func() (*http.Response, error) { return t.inject(request, about) })
}

func (t *roundTripper) inject(request *http.Request, about *record.Request) (*http.Response, error) {
	t.injector.scope.rewrite(request, about)
	if about.IsForResource() {
		request.Header.Del("Accept-Encoding") // the underlying transport negotiates and decodes the compression
	}

	t.inFlight.RLock()
	if t.end.isSent() {
		t.inFlight.RUnlock()
		return nil, errDisconnected
	}
	key, of := t.injector.match(about)
	call := &Call{request, t, key, about}
	if of == None {
		defer t.inFlight.RUnlock()
		return call.send()
	}
	response, err := of.(*requestFault).inject(call)
	t.inFlight.RUnlock()
	if errors.Is(err, errCrash) {
		t.crash()
		return nil, errDisconnected
	}
	return response, err
}

func (t *roundTripper) send(request *http.Request, key RequestKey, about *record.Request) (*http.Response, error) {
	if refused := t.listStale(request, key.Target, about.Verb); refused != nil {
		return refused, nil
	}
	response, err := t.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	switch {
	case about.Verb == "watch" && response.StatusCode == http.StatusOK:
		t.injector.recordOpened(about.Verb, key.Target)
		response.Body = newStream(t.Instance, key.Target, response)
	case response.StatusCode == http.StatusSwitchingProtocols, about.Subresource == "log", about.Subresource == "proxy": // the body may stay open
	case request.URL.Query().Has("dryRun"): // a dry run changes nothing
	case about.Verb == "get" || about.Verb == "list" || about.IsWrite():
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			return nil, err
		}
		if object, known := parseObject(body); known {
			t.injector.Journal.recordResponse(key, about, response.StatusCode, object)
			if about.Verb == "list" {
				t.injector.recordOpened(about.Verb, key.Target)
				t.injector.received(key.Target, watch.Bookmark, object)
			}
		}
		response.Body = io.NopCloser(bytes.NewReader(body))
	}
	return response, nil
}

// listStale changes a list request so that a restarted operator gets an old version of the list. A streaming list
// cannot return an old version, so it gets an error response, and the client falls back to a list request.
func (t *roundTripper) listStale(request *http.Request, target, verb string) *http.Response {
	version := t.injector.staleVersion(target)
	if version == "" {
		return nil
	}
	query := request.URL.Query()
	switch {
	case verb == "watch" && query.Get("sendInitialEvents") == "true":
		return refuse(request, http.StatusUnprocessableEntity)
	case verb == "list":
		query.Set("resourceVersion", version)
		query.Set("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
		request.URL.RawQuery = query.Encode()
	}
	return nil
}
