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

// operator is the operator under test. It runs in the test process with its own identity.
type operator struct {
	// Requests records the requests of all instances.
	Requests *record.Recorder
	// Log contains the log of all instances.
	Log *gbytes.Buffer

	config    *rest.Config
	stop      func() error
	interrupt atomic.Pointer[interruption]
	refused   atomic.Pointer[record.Filter]
	cutOff    atomic.Bool
}

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

// Interrupt delays the next matching request of the operator. It calls meanwhile, and forwards the request when
// meanwhile returns.
func (o *operator) Interrupt(request record.Filter, meanwhile func()) {
	o.interrupt.Store(&interruption{request, meanwhile})
}

// Refuse makes the operator's matching requests fail with an internal error until admit is called.
func (o *operator) Refuse(request record.Filter) (admit func()) {
	o.refused.Store(&request)
	return func() { o.refused.Store(nil) }
}

// CutOff makes the operator's requests fail with a connection error until reconnect is called. Open watches stay open.
func (o *operator) CutOff() (reconnect func()) {
	o.cutOff.Store(true)
	return func() { o.cutOff.Store(false) }
}

// interruptible is the operator's HTTP transport. It implements Interrupt, Refuse and CutOff.
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

// Start starts the operator if it is not running, and waits until its caches are synced.
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

// newManager returns a manager that writes its log to Log and does not listen on any port.
func (o *operator) newManager(options ctrl.Options) (ctrl.Manager, error) {
	options.Logger = zap.New(zap.WriteTo(o.Log))
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	// Controller names must be unique in a process, but the suite starts the operator several times.
	options.Controller = config.Controller{SkipNameValidation: new(true)}
	return controller.NewManager(o.config, options)
}

// Stop stops the operator and waits until all reconciles have finished. The spec must start the operator again.
func (o *operator) Stop() error {
	if o.stop == nil {
		return nil
	}
	stop := o.stop
	o.stop = nil
	return stop()
}
