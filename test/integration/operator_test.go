package integration

import (
	"context"
	"net/http"
	"sync/atomic"
	"syscall"

	"github.com/onsi/gomega/gbytes"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/controller"
)

// operator is the operator under test, which runs in this process with an identity of its own.
type operator struct {
	// Requests are all that it ever sent, by all of its instances.
	Requests *record.Recorder
	// Log is all that it ever logged.
	Log *gbytes.Buffer

	config    *rest.Config
	stop      func() error
	interrupt atomic.Pointer[interruption]
	refused   atomic.Pointer[record.Filter]
	cutOff    atomic.Bool
}

// interruption is a function that runs just before the operator's next request that matches is sent.
type interruption struct {
	request   record.Filter
	meanwhile func()
}

func newOperator(identity *rest.Config) *operator {
	o := &operator{Requests: &record.Recorder{}, Log: gbytes.NewBuffer(), config: rest.CopyConfig(identity)}
	o.config.Wrap(o.Requests.Wrap)
	o.config.Wrap(func(next http.RoundTripper) http.RoundTripper { return interruptible{o, next} })
	return o
}

// Interrupt runs a function once, just before the operator sends the next request that matches.
func (o *operator) Interrupt(request record.Filter, meanwhile func()) {
	o.interrupt.Store(&interruption{request, meanwhile})
}

// Refuse answers the operator's requests that match with an internal error, until admit is called.
func (o *operator) Refuse(request record.Filter) (admit func()) {
	o.refused.Store(&request)
	return func() { o.refused.Store(nil) }
}

// CutOff lets the operator's requests fail as if nobody listened at the API server's address, until reconnect is called.
// Watches that are open stay open.
func (o *operator) CutOff() (reconnect func()) {
	o.cutOff.Store(true)
	return func() { o.cutOff.Store(false) }
}

// interruptible is the transport of the operator's requests.
type interruptible struct {
	*operator
	next http.RoundTripper
}

func (t interruptible) RoundTrip(request *http.Request) (*http.Response, error) {
	i := t.interrupt.Load()
	if i != nil && i.request(*record.Classify(request)) && t.interrupt.CompareAndSwap(i, nil) {
		i.meanwhile()
	}
	if t.cutOff.Load() {
		return nil, syscall.ECONNREFUSED
	}
	if refused := t.refused.Load(); refused != nil && (*refused)(*record.Classify(request)) {
		return &http.Response{StatusCode: http.StatusInternalServerError, Body: http.NoBody, Request: request}, nil
	}
	return t.next.RoundTrip(request)
}

// Start starts the operator unless it runs, and returns when its caches are synced.
func (o *operator) Start(ctx context.Context) error {
	if o.stop != nil {
		return nil
	}
	manager, err := o.newManager(ctrl.Options{})
	if err != nil {
		return err
	}
	o.stop, err = controlplane.RunManager(ctx, manager)
	return err
}

// newManager makes a manager that logs to Log and has no ports.
func (o *operator) newManager(options ctrl.Options) (ctrl.Manager, error) {
	options.Logger = zap.New(zap.WriteTo(o.Log))
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	// A controller's name is registered once per process, but this operator starts several times.
	options.Controller = config.Controller{SkipNameValidation: new(true)}
	return controller.NewManager(o.config, options)
}

// Stop returns when the last reconcile has ended. The spec that stops the operator starts it again.
func (o *operator) Stop() error {
	if o.stop == nil {
		return nil
	}
	stop := o.stop
	o.stop = nil
	return stop()
}
