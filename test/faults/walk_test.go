package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operator-assay/assay/test/harness/record"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/test/harness/faultinject"
)

const (
	// pause is how long an operator does nothing that has done all it can with what it knows.
	pause = 150 * time.Millisecond
	// silence is how long nothing happens at the end of a walk: more than the operator gathers changes for.
	silence = 400 * time.Millisecond
	// endless is how long something may go on.
	endless = 3 * patience
	// lastRequests is how many a failed walk tells of.
	lastRequests = 15
)

// errPortTaken is why a walk has to be made again. While a Service is away, its node port may be given to
// that of another walk: its resource then waits, as it should.
var errPortTaken = errors.New("another namespace's Service has a node port that is to be kept")

// walk is a plan that is carried out, in a namespace of its own with an operator of its own.
type walk struct {
	ctx       context.Context
	witness   *record.History
	namespace string
	wire      *faultinject.Injector
	// patience is how long nothing may happen while something is still amiss. The operator waits 15 s at
	// most between two tries.
	patience      time.Duration
	restart, kill chan struct{}

	present map[string]*present // by name
	// written are the resourceVersions that this walk was answered with, by the object's UID: what the
	// witness has not seen yet cannot be judged.
	written map[types.UID]string
	deleted map[types.UID]bool
	edited  []edited
	lags    bool // one of the operator's watches did, or does, lag behind the others
	story   []string
}

// present is a resource that exists.
type present struct {
	wanted
	uid types.UID
}

func newWalk(ctx context.Context, namespace string, witness *record.History, patience time.Duration) *walk {
	return &walk{
		ctx: ctx, witness: witness, namespace: namespace, patience: patience, restart: make(chan struct{}), kill: make(chan struct{}),
		// All that this operator lists and watches lives in namespaces.
		wire:    faultinject.New(faultinject.Fault{}, faultinject.Scope{Namespace: namespace, Namespaced: func(schema.GroupResource) bool { return true }}),
		present: map[string]*present{}, written: map[types.UID]string{}, deleted: map[types.UID]bool{},
	}
}

// take carries a plan out, to the end that all has to come to.
func (w *walk) take(p *plan) error {
	operating, stop := context.WithCancel(w.ctx)
	config, life := w.wire.NewInstance(identity)
	var operators sync.WaitGroup
	operators.Go(func() { w.operate(operating, config, life) })
	defer w.leave()
	defer operators.Wait()
	defer stop()
	for _, a := range append(slices.Clone(p.actions), action{"wait for the end", (*walk).end}) {
		w.story = append(w.story, a.says)
		w.wire.Requests.SetStep(a.says)
		if err := a.do(w); err != nil {
			if w.portIsTaken() {
				return errPortTaken
			}
			return err
		}
	}
	return nil
}

// leave makes room for other walks. The garbage collector does the rest.
func (w *walk) leave() {
	w.witness.Drop(w.namespace)
	for _, s := range subjects { // whatever else fails, a node port that is not free again is not worth a word
		_ = plane.Client.DeleteAllOf(context.Background(), s.in(w.namespace, nil), client.InNamespace(w.namespace))
	}
}

// operate keeps the operator alive until the walk ends, as a kubelet does.
func (w *walk) operate(ctx context.Context, config *rest.Config, life *faultinject.Instance) {
	var dying sync.WaitGroup
	defer dying.Wait()
	for {
		living, stop := context.WithCancel(ctx)
		ended := make(chan struct{})
		dying.Go(func() {
			defer close(ended)
			_ = operate(living, config, io.Discard) // how it ends, the walk decides
		})
		select {
		case <-life.Crashed():
		case <-w.kill:
		case <-w.restart:
			stop()
			<-ended // what is under way is done
		case <-ended:
		case <-ctx.Done():
		}
		life.End()
		stop()
		if ctx.Err() != nil {
			return
		}
		config, life = w.wire.NewInstance(identity)
	}
}

// calm waits until all is as it is wanted. What a fault holds back goes on when the operator has done all
// that it can without.
func (w *walk) calm(ctx context.Context) error {
	for {
		select {
		case <-w.wire.Pending():
			if err := w.wire.WaitIdle(ctx, w.witness, pause); err != nil {
				return err
			}
			w.wire.Release()
			continue
		default:
		}
		changed, _ := w.witness.Changed(w.namespace)
		amiss := w.amiss()
		if amiss == nil {
			return nil
		}
		select {
		case <-changed:
		case <-w.wire.Pending():
		case <-time.After(w.patience):
			return fmt.Errorf("nothing happens any more, but %w", amiss)
		case <-ctx.Done():
			return fmt.Errorf("it goes on and on, but %w", amiss)
		}
	}
}

// end is the calm after the last action, which stays.
func (w *walk) end() error {
	ctx, cancel := context.WithTimeout(w.ctx, endless)
	defer cancel()
	for {
		if err := w.calm(ctx); err != nil {
			return err
		}
		if err := w.wire.WaitIdle(ctx, w.witness, silence); err != nil {
			return err
		}
		if w.amiss() == nil {
			return w.judge()
		}
	}
}

// portIsTaken tells whether a Service of another namespace has a node port that a resource here is to keep.
func (w *walk) portIsTaken() bool {
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
	for i, line := range w.story {
		fmt.Fprintf(&out, "%4d. %s\n", i+1, line)
	}
	requests := w.wire.Requests.Requests()
	fmt.Fprintf(&out, "the operator's last requests, each with the action before it:\n%s", requests[max(0, len(requests)-lastRequests):])
	return out.String()
}
