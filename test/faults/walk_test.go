package faults_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
)

const lastRequests = 15

type walk struct {
	ctx       context.Context
	history   *record.History
	namespace string
	injector  *fault.Injector
	// stallTimeout is how long the state may stay unchanged while it differs from the model. The operator waits up to
	// 15 s between two retries.
	stallTimeout  time.Duration
	restart, kill chan struct{}

	existing map[string]*liveResource // by name
	// writtenVersions contains the resourceVersion of the walk's last write to each object, by UID. The walk waits
	// until the history contains these versions before it checks the state.
	writtenVersions map[types.UID]string
	deleted         map[types.UID]bool
	edited          []editedChild
	staleWatch      bool // a watch of the operator lags or has lagged behind the others
	trace           []string
}

type liveResource struct {
	desiredResource
	uid types.UID
}

func newWalk(ctx context.Context, namespace string, history *record.History, patience time.Duration) *walk {
	return &walk{
		ctx: ctx, history: history, namespace: namespace, stallTimeout: patience, restart: make(chan struct{}), kill: make(chan struct{}),
		// This operator only lists and watches namespaced resources.
		injector: fault.New(fault.Scope{Namespace: namespace, Namespaced: func(schema.GroupResource) bool { return true }}),
		existing: map[string]*liveResource{}, writtenVersions: map[types.UID]string{}, deleted: map[types.UID]bool{},
	}
}

func (w *walk) run(p *plan) error {
	operating, stop := context.WithCancel(w.ctx)
	config, instance := w.injector.NewInstance(identity)
	var operators sync.WaitGroup
	operators.Go(func() { w.supervise(operating, config, instance) })
	defer w.cleanUp()
	defer operators.Wait()
	defer stop()
	for _, a := range append(slices.Clone(p.actions), action{"wait for the end", (*walk).waitEnd}) {
		w.trace = append(w.trace, a.description)
		w.injector.Requests.SetStep(a.description)
		if err := a.do(w); err != nil {
			if w.nodePortConflict() {
				return errNodePortConflict
			}
			return err
		}
	}
	return nil
}

// cleanUp deletes the resources, so that other walks can use their node ports. The garbage collector deletes the
// children.
func (w *walk) cleanUp() {
	w.history.Drop(w.namespace)
	for _, s := range subjects { // ignore errors, because a leaked node port is not worth a failure
		_ = plane.Client.DeleteAllOf(context.Background(), s.in(w.namespace, nil), client.InNamespace(w.namespace))
	}
}

// supervise restarts the operator until the walk ends, like a kubelet.
func (w *walk) supervise(ctx context.Context, config *rest.Config, instance *fault.Instance) {
	var dying sync.WaitGroup
	defer dying.Wait()
	for {
		living, stop := context.WithCancel(ctx)
		ended, own := make(chan struct{}), config // the config may be replaced for the next instance while this one is still stopping
		dying.Go(func() {
			defer close(ended)
			_ = runInstance(living, "", own, io.Discard) // the walk ends the instance, so its error is not relevant
		})
		select {
		case <-instance.Crashed():
		case <-w.kill:
		case <-w.restart:
			stop()
			<-ended // wait for running reconciles
		case <-ended:
		case <-ctx.Done():
		}
		instance.End()
		stop()
		if ctx.Err() != nil {
			return
		}
		config, instance = w.injector.NewInstance(identity)
	}
}

// waitConverged waits until the state matches the model. It releases a pending fault when the operator is idle.
func (w *walk) waitConverged(ctx context.Context) error {
	for {
		select {
		case <-w.injector.Pending():
			if err := w.injector.WaitIdle(ctx, w.history, idleWindow); err != nil {
				return err
			}
			w.injector.Release()
			continue
		default:
		}
		changed, _ := w.history.Changed(w.namespace)
		mismatch := w.mismatch()
		if mismatch == nil {
			return nil
		}
		select {
		case <-changed:
		case <-w.injector.Pending():
		case <-time.After(w.stallTimeout):
			return fmt.Errorf("nothing has changed for %s, but the state differs: %w", w.stallTimeout, mismatch)
		case <-ctx.Done():
			return fmt.Errorf("timeout, and the state differs: %w", mismatch)
		}
	}
}

// waitEnd waits until the state matches the model and no longer changes.
func (w *walk) waitEnd() error {
	ctx, cancel := context.WithTimeout(w.ctx, walkTimeout)
	defer cancel()
	for {
		if err := w.waitConverged(ctx); err != nil {
			return err
		}
		if err := w.injector.WaitIdle(ctx, w.history, settleWindow); err != nil {
			return err
		}
		if w.mismatch() == nil {
			return w.checkInvariants()
		}
	}
}

func (w *walk) String() string {
	var out strings.Builder
	for i, line := range w.trace {
		fmt.Fprintf(&out, "%4d. %s\n", i+1, line)
	}
	requests := w.injector.Requests.Requests()
	fmt.Fprintf(&out, "the operator's last requests, each with the preceding action:\n%s", requests[max(0, len(requests)-lastRequests):])
	return out.String()
}
