package fault

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

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

// NewInstance returns an Instance and a config that uses the injector. Earlier instances must have ended.
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
// requests to the API server, even if its goroutines are still running. Log, exec and port-forward streams stay open
// until the operator's context or process ends.
func (i *Instance) Crashed() <-chan struct{} { return i.crashed.Done() }

// End disconnects the instance in the same way as a crash. It returns when all requests of the instance have returned.
func (i *Instance) End() {
	i.end.send() // ends watches and delays
	i.inFlight.Lock()
	defer i.inFlight.Unlock()
}

func (i *Instance) crash() {
	i.End()
	i.injector.mu.Lock()
	if i.injector.lives.newest == i {
		i.injector.lives.syncedAt = time.Time{} // the operator is not idle before the next instance has synced
	}
	i.injector.mu.Unlock()
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
	call := &call{request, t, key, about}
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
