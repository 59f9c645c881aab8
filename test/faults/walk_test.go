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

// lastRequests is how many requests a failed walk prints.
const lastRequests = 15

// walk is the execution of a plan, in a namespace of its own with an operator of its own.
type walk struct {
	ctx       context.Context
	history   *record.History
	namespace string
	injector  *fault.Injector
	// stallTimeout is how long nothing may change while the state differs from the model. The operator waits up to 15
	// s between two retries.
	stallTimeout  time.Duration
	restart, kill chan struct{}

	existing map[string]*liveResource // by name
	// writtenVersions are the resourceVersions of the walk's own writes, by the object's UID. A state that the
	// history has not observed yet cannot be judged.
	writtenVersions map[types.UID]string
	deleted         map[types.UID]bool
	edited          []editedChild
	staleWatch      bool // a watch of the operator lags, or has lagged, behind the others
	trace           []string
}

// liveResource is a resource that exists.
type liveResource struct {
	desiredResource
	uid types.UID
}

func newWalk(ctx context.Context, namespace string, history *record.History, patience time.Duration) *walk {
	return &walk{
		ctx: ctx, history: history, namespace: namespace, stallTimeout: patience, restart: make(chan struct{}), kill: make(chan struct{}),
		// All that this operator lists and watches is namespaced.
		injector: fault.New(fault.Scope{Namespace: namespace, Namespaced: func(schema.GroupResource) bool { return true }}),
		existing: map[string]*liveResource{}, writtenVersions: map[types.UID]string{}, deleted: map[types.UID]bool{},
	}
}

// run executes a plan, and waits for its final state.
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

// cleanUp deletes the resources, so that their node ports are free for other walks. The garbage collector deletes the
// rest.
func (w *walk) cleanUp() {
	w.history.Drop(w.namespace)
	for _, s := range subjects { // a node port that stays taken is not worth an error
		_ = plane.Client.DeleteAllOf(context.Background(), s.in(w.namespace, nil), client.InNamespace(w.namespace))
	}
}

// supervise restarts the operator until the walk ends, as a kubelet does.
func (w *walk) supervise(ctx context.Context, config *rest.Config, instance *fault.Instance) {
	var dying sync.WaitGroup
	defer dying.Wait()
	for {
		living, stop := context.WithCancel(ctx)
		ended, own := make(chan struct{}), config // the next instance may get its config while this one dies
		dying.Go(func() {
			defer close(ended)
			_ = runInstance(living, "", own, io.Discard) // the walk decides how it ends
		})
		select {
		case <-instance.Crashed():
		case <-w.kill:
		case <-w.restart:
			stop()
			<-ended // running reconciles return
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

// waitConverged waits until the state equals the model. A pending fault is released when the operator is idle.
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
		amiss := w.mismatch()
		if amiss == nil {
			return nil
		}
		select {
		case <-changed:
		case <-w.injector.Pending():
		case <-time.After(w.stallTimeout):
			return fmt.Errorf("nothing changes any more, but %w", amiss)
		case <-ctx.Done():
			return fmt.Errorf("changes do not end, but %w", amiss)
		}
	}
}

// waitEnd waits for the final state, which must stay.
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

// String prints the actions, and the last requests.
func (w *walk) String() string {
	var out strings.Builder
	for i, line := range w.trace {
		fmt.Fprintf(&out, "%4d. %s\n", i+1, line)
	}
	requests := w.injector.Requests.Requests()
	fmt.Fprintf(&out, "the operator's last requests, each with the action before it:\n%s", requests[max(0, len(requests)-lastRequests):])
	return out.String()
}
