package integration

import (
	"bytes"
	"context"
	"sync"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/operator-assay/assay/operator/controller"
	"github.com/operator-assay/assay/test/harness/controlplane"
	"github.com/operator-assay/assay/test/harness/oracle"
)

// operator is the operator under test, which runs in this process under an identity of its own.
type operator struct {
	// Requests are all that it ever sent, in this and in earlier lives.
	Requests *oracle.Recorder
	// Log is all that it ever wrote.
	Log *log

	config *rest.Config
	stop   func() error
}

func newOperator(identity *rest.Config) *operator {
	o := &operator{Requests: &oracle.Recorder{}, Log: &log{}, config: rest.CopyConfig(identity)}
	o.config.Wrap(o.Requests.Wrap)
	return o
}

// Start returns when the operator works. One that already does is left alone.
func (o *operator) Start(ctx context.Context) error {
	if o.stop != nil {
		return nil
	}
	manager, err := controller.NewManager(o.config, ctrl.Options{
		Logger:  zap.New(zap.WriteTo(o.Log)),
		Metrics: metricsserver.Options{BindAddress: "0"},
		// A name is taken for a process's life, but this operator has several lives in one.
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		return err
	}
	o.stop, err = controlplane.RunManager(ctx, manager)
	return err
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

// log is a buffer that the operator writes while specs read.
type log struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (l *log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes.Write(line)
}

// Since gives what was written after the first n bytes; Since(0) is everything.
func (l *log) Since(n int) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.bytes.Bytes()[n:])
}
