package explore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/test/harness/faultinject"
	"github.com/operator-assay/assay/test/harness/record"
)

const (
	// idleWindow is how long an operator does nothing that has done all it can with what it knows.
	idleWindow = 150 * time.Millisecond
	// settleWindow is how long nothing happens at the end of a walk: more than the operator gathers changes for.
	settleWindow = 400 * time.Millisecond
	// maxDuration is how long something may go on.
	maxDuration = 3 * stepTimeout
	// lastRequests is how many a failed walk tells of.
	lastRequests = 15
)

// errNodePortConflict is why a walk has to be made again. While a Service is away, its node port may be given to
// that of another walk: its resource then waits, as it should.
var errNodePortConflict = errors.New("another namespace's Service has a node port that is to be kept")

// walk is a plan that is carried out, in a namespace of its own with an operator of its own.
type walk struct {
	ctx       context.Context
	history   *record.History
	namespace string
	injector  *faultinject.Injector
	// stallTimeout is how long nothing may happen while something is still amiss. The operator waits 15 s at
	// most between two tries.
	stallTimeout  time.Duration
	restart, kill chan struct{}

	existing map[string]*liveResource // by name
	// writtenVersions are the resourceVersions that this walk was answered with, by the object's UID: what the
	// witness has not seen yet cannot be judged.
	writtenVersions map[types.UID]string
	deleted         map[types.UID]bool
	edited          []editedChild
	staleWatch      bool // pick of the operator's watches did, or does, lag behind the others
	trace           []string
}

// resourceExists is a resource that exists.
type liveResource struct {
	desiredResource
	uid types.UID
}

func newWalk(ctx context.Context, namespace string, history *record.History, patience time.Duration) *walk {
	return &walk{
		ctx: ctx, history: history, namespace: namespace, stallTimeout: patience, restart: make(chan struct{}), kill: make(chan struct{}),
		// All that this operator lists and watches lives in namespaces.
		injector: faultinject.New(faultinject.Fault{}, faultinject.Scope{Namespace: namespace, Namespaced: func(schema.GroupResource) bool { return true }}),
		existing: map[string]*liveResource{}, writtenVersions: map[types.UID]string{}, deleted: map[types.UID]bool{},
	}
}

// run carries a plan out, to the end that all has to come to.
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

// cleanUp makes room for other walks. The garbage collector does the rest.
func (w *walk) cleanUp() {
	w.history.Drop(w.namespace)
	for _, s := range subjects { // whatever else fails, a node port that is not free again is not worth a word
		_ = plane.Client.DeleteAllOf(context.Background(), s.in(w.namespace, nil), client.InNamespace(w.namespace))
	}
}

// supervise keeps the operator alive until the walk ends, as a kubelet does.
func (w *walk) supervise(ctx context.Context, config *rest.Config, instance *faultinject.Instance) {
	var dying sync.WaitGroup
	defer dying.Wait()
	for {
		living, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		dying.Go(func() {
			defer close(ended)
			_ = runInstance(living, config, io.Discard) // how it ends, the walk decides
		})
		select {
		case <-instance.Crashed():
		case <-w.kill:
		case <-w.restart:
			stop()
			<-ended // what is under way is done
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

// stableFor waits until all is as it is wanted. What a fault holds back goes on when the operator has done all
// that it can without.
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
			return fmt.Errorf("nothing happens any more, but %w", amiss)
		case <-ctx.Done():
			return fmt.Errorf("it goes on and on, but %w", amiss)
		}
	}
}

// waitEnd is the calm after the last action, which stays.
func (w *walk) waitEnd() error {
	ctx, cancel := context.WithTimeout(w.ctx, maxDuration)
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

// nodePortConflict tells whether a Service of another namespace has a node port that a resource here is to keep.
func (w *walk) nodePortConflict() bool {
	kept := map[int32]bool{}
	webs, services := &webserverv1.WebServerList{}, &corev1.ServiceList{}
	if plane.Client.List(w.ctx, webs, client.InNamespace(w.namespace)) != nil || plane.Client.List(w.ctx, services) != nil {
		return false
	}
	for _, web := range webs.Items {
		kept[web.Status.NodePort] = true
	}
	return slices.ContainsFunc(services.Items, func(service corev1.Service) bool {
		return service.Namespace != w.namespace && slices.ContainsFunc(service.Spec.Ports, func(port corev1.ServicePort) bool {
			return port.NodePort != 0 && kept[port.NodePort]
		})
	})
}

// String tells what was done, and what was asked last.
func (w *walk) String() string {
	var out strings.Builder
	for i, line := range w.trace {
		fmt.Fprintf(&out, "%4d. %s\n", i+1, line)
	}
	requests := w.injector.Requests.Requests()
	fmt.Fprintf(&out, "the operator's last requests, each with the action before it:\n%s", requests[max(0, len(requests)-lastRequests):])
	return out.String()
}
