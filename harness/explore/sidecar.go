package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
)

// Sidecar is a process that runs next to the operator, such as a separate webhook server. It is started and stopped
// with each run, and restarted if it exits. No faults are injected into its requests, and the oracles ignore them.
type Sidecar struct {
	// Name identifies the process in errors, for example the name of its Deployment.
	Name string
	// Identity is the rest.Config that the process uses.
	Identity *rest.Config
	// Operator runs the process.
	Operator Operator
	// ServesWebhooks is true if the API server calls webhooks in this process. A run does not wait for such a process
	// before it starts. It waits for every other process until that process has listed or watched a resource.
	ServesWebhooks bool
}

type sidecar struct {
	config   Sidecar
	injector *fault.Injector // injects no faults, only records
	log      log
}

// startSidecars starts the processes in Options.Sidecars. The processes stop when ctx is canceled. The returned function
// waits for them.
func (r *run) startSidecars(ctx context.Context, scope fault.Scope) (wait func()) {
	var living sync.WaitGroup
	for _, of := range r.env.config.Sidecars {
		b := &sidecar{config: of, injector: fault.New(scope)}
		r.sidecars = append(r.sidecars, b)
		living.Go(func() { r.keepAlive(ctx, b) })
	}
	return living.Wait
}

// keepAlive restarts a process whenever it exits. It aborts the run after maxStarts.
func (r *run) keepAlive(ctx context.Context, b *sidecar) {
	for starts := 1; ; starts++ {
		config, instance := b.injector.NewInstance(b.config.Identity)
		err := b.config.Operator(ctx, r.env.home(r.namespace), config, &b.log)
		instance.End()
		err = cmp.Or(err, errors.New("it exited without an error"))
		if ctx.Err() == nil && starts == maxStarts {
			r.abort(stepError{b.config.Name + " runs", fmt.Errorf("%s, which runs beside the operator, exited by itself, %d times: %w", b.config.Name, starts, err)})
			return
		}
		select {
		case <-time.After(time.Duration(starts) * restartDelay):
		case <-ctx.Done():
			return
		}
	}
}

// waitSidecars waits until every process without webhooks has synced and is idle.
func (r *run) waitSidecars(ctx context.Context) error {
	for _, b := range r.sidecars {
		if b.config.ServesWebhooks {
			continue
		}
		err := b.injector.WaitIdle(ctx, r.env.history, idleWindow, record.Request.IsWrite)
		if err != nil && !b.injector.Synced() {
			return fmt.Errorf("%s, which runs beside the operator, has not listed or watched anything within %s", b.config.Name, r.timely.Round(time.Second/10))
		}
		if err != nil {
			return fmt.Errorf("%s, which runs beside the operator: %s", b.config.Name, err.Error()) // hide record.ErrNotIdle, which is about the operator
		}
	}
	return nil
}

func (r *run) sidecarWrites() []fault.Write {
	var writes []fault.Write
	for _, b := range r.sidecars {
		writes = append(writes, b.injector.Writes()...)
	}
	return writes
}

func (r *run) sidecarLog() string {
	var text strings.Builder
	for _, b := range r.sidecars {
		if tail := b.log.tail(logTailLines); tail != "" {
			fmt.Fprintf(&text, "\nlog of %s:\n%s", b.config.Name, tail)
		}
	}
	return text.String()
}
