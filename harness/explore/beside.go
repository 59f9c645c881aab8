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

// besidePause is how long the first restart of a process beside the operator waits. Each further restart waits that much
// longer than the one before, as a kubelet's wait grows, too.
const besidePause = 200 * time.Millisecond

// Beside is a process that runs beside the operator, such as one for its webhooks. It starts and ends with a run, is
// restarted when it exits, and meets no faults. Its requests are not the operator's: no fault is planned at them, and no
// oracle judges them.
type Beside struct {
	// Name is what errors call it, such as its Deployment's.
	Name string
	// Identity is the rest.Config of its user.
	Identity *rest.Config
	// Operator runs it.
	Operator Operator
	// ServesWebhooks tells that the API server's requests wait for it, so that a run can begin without it. Before any other
	// has listed or watched something, a run does not begin.
	ServesWebhooks bool
}

// beside is what runs beside the operator of a run.
type beside struct {
	Beside
	injector *fault.Injector // of no fault
	log      log
}

// startBeside starts what runs beside the operator. wait waits until it has ended, which it does with ctx.
func (r *run) startBeside(ctx context.Context, scope fault.Scope) (wait func()) {
	var living sync.WaitGroup
	for _, of := range r.at.Beside {
		b := &beside{Beside: of, injector: fault.New(scope)}
		r.beside = append(r.beside, b)
		living.Go(func() { r.keepAlive(ctx, b) })
	}
	return living.Wait
}

// keepAlive restarts a process whenever it exits, as a kubelet does, but ends the run after maxStarts.
func (r *run) keepAlive(ctx context.Context, b *beside) {
	for starts := 1; ; starts++ {
		config, instance := b.injector.NewInstance(b.Identity)
		err := b.Operator(ctx, r.at.homeOf(r.namespace), config, &b.log)
		instance.End()
		err = cmp.Or(err, errors.New("it exited without an error"))
		if ctx.Err() == nil && starts == maxStarts {
			r.abort(stepError{b.Name + " runs", fmt.Errorf("%s, which runs beside the operator, exited by itself, %d times: %w", b.Name, starts, err)})
			return
		}
		select {
		case <-time.After(time.Duration(starts) * besidePause):
		case <-ctx.Done():
			return
		}
	}
}

// waitBeside waits until what runs beside the operator has work before it, and has done it.
func (r *run) waitBeside(ctx context.Context) error {
	for _, b := range r.beside {
		if b.ServesWebhooks {
			continue
		}
		err := b.injector.WaitIdle(ctx, r.at.history, idleWindow, record.Request.IsWrite)
		if err != nil && !b.injector.Synced() {
			return fmt.Errorf("%s, which runs beside the operator, has not listed or watched anything within %s", b.Name, r.timely.Round(time.Second/10))
		}
		if err != nil {
			return fmt.Errorf("%s, which runs beside the operator: %s", b.Name, err.Error()) // not wrapped: that it is not idle says nothing of the operator
		}
	}
	return nil
}

// besideWrites are the writes of what runs beside the operator.
func (r *run) besideWrites() []fault.Write {
	var writes []fault.Write
	for _, b := range r.beside {
		writes = append(writes, b.injector.Writes()...)
	}
	return writes
}

// besideLog is the end of what each process beside the operator has logged.
func (r *run) besideLog() string {
	var text strings.Builder
	for _, b := range r.beside {
		if tail := b.log.tail(logTailLines); tail != "" {
			fmt.Fprintf(&text, "\nlog of %s:\n%s", b.Name, tail)
		}
	}
	return text.String()
}
