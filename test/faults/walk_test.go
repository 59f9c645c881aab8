package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
	"github.com/operator-assay/assay/test/harness/faults"
	"github.com/operator-assay/assay/test/harness/oracle"
)

const (
	// pause is how long an operator does nothing that has done all it can with what it knows.
	pause = 150 * time.Millisecond
	// silence is how long nothing happens at the end of a walk: more than the operator gathers changes for.
	silence = 400 * time.Millisecond
	// endless is how long something may go on.
	endless = 3 * patience
)

// walk is a namespace in which somebody acts at random, with an operator of its own and the model of what
// has to come of it.
type walk struct {
	ctx       context.Context
	witness   *oracle.Witness
	namespace string
	wire      *faults.Wire
	// patience is how long nothing may happen while something is still amiss. The operator waits 15 s at
	// most between two tries.
	patience      time.Duration
	restart, kill chan struct{}

	resources []*wanted
	// written are the resourceVersions that this walk was answered with, by the object's UID: what the
	// witness has not seen yet cannot be judged.
	written map[types.UID]string
	// deleted are all objects that this walk has deleted.
	deleted map[types.UID]bool
	edited  []edited // what others added to children

	isCalm bool // nothing was done since it was
	lags   bool // one of the operator's watches did, or does, lag behind the others
	story  []string
	failed error
}

// wanted is a resource that comes and goes in a walk, as its users want it.
type wanted struct {
	subject
	name  string
	uid   types.UID // empty while there is none
	grown bool      // it had its children
	pods  int64
	image string
}

// newWalk makes the namespace and starts the operator. Nobody waits for it.
func newWalk(t *rapid.T, witness *oracle.Witness) *walk {
	w := &walk{
		ctx: t.Context(), witness: witness, patience: patience, restart: make(chan struct{}), kill: make(chan struct{}),
		written: map[types.UID]string{}, deleted: map[types.UID]bool{},
	}
	for _, s := range subjects {
		for i := range 2 {
			w.resources = append(w.resources, &wanted{subject: s, name: fmt.Sprintf("%s-%d", s.container(), i+1)})
		}
	}
	var err error
	if w.namespace, err = plane.CreateNamespace(w.ctx, "walk"); err != nil {
		t.Fatal(err)
	}
	// All that this operator lists and watches lives in namespaces.
	w.wire = faults.NewWire(faults.Fault{}, faults.Scope{Namespace: w.namespace, Namespaced: func(schema.GroupVersionResource) bool { return true }})
	config, life := w.wire.NewLife(identity)
	over := make(chan struct{})
	go func() {
		defer close(over)
		w.operate(config, life)
	}()
	t.Cleanup(func() {
		<-over
		w.witness.Forget(w.namespace)
		for _, s := range subjects { // so that node ports are free again; the garbage collector does the rest
			_ = plane.Client.DeleteAllOf(context.Background(), s.in(w.namespace, nil), client.InNamespace(w.namespace))
		}
	})
	return w
}

// operate keeps the operator alive until the walk ends, as a kubelet does.
func (w *walk) operate(config *rest.Config, life *faults.Life) {
	var dying sync.WaitGroup
	defer dying.Wait()
	for {
		living, stop := context.WithCancel(w.ctx)
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
		case <-w.ctx.Done():
		}
		life.End()
		stop()
		if w.ctx.Err() != nil {
			return
		}
		config, life = w.wire.NewLife(identity)
	}
}

// calm waits until all is as the model has it. What a fault holds back goes on when the operator has done
// all that it can without.
func (w *walk) calm(ctx context.Context) error {
	for {
		select {
		case <-w.wire.Lasting():
			if err := w.rest(ctx, pause); err != nil {
				return err
			}
			w.wire.Proceed()
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
		case <-w.wire.Lasting():
		case <-time.After(w.patience):
			return fmt.Errorf("nothing happens any more, but %w", amiss)
		case <-ctx.Done():
			return fmt.Errorf("it goes on and on, but %w", amiss)
		}
	}
}

// rest waits until the operator has asked for nothing, and nothing was changed, for a while.
func (w *walk) rest(ctx context.Context, window time.Duration) error {
	for {
		if err := w.wire.Requests.Silent(ctx, window); err != nil {
			return err
		}
		changed, last := w.witness.Changed(w.namespace)
		remaining := window - time.Since(last)
		if remaining <= 0 && w.wire.Awake() {
			return nil
		}
		select {
		case <-changed:
		case <-time.After(max(remaining, pause)):
		case <-ctx.Done():
			return fmt.Errorf("it is not at rest for %s", window)
		}
	}
}

// end is the calm after the last action, which stays.
func (w *walk) end(t *rapid.T) {
	w.tell("wait for the end")
	ctx, cancel := context.WithTimeout(w.ctx, endless)
	defer cancel()
	amiss := errors.New("not looked yet")
	for amiss != nil {
		w.check(t, w.calm(ctx))
		w.check(t, w.rest(ctx, silence))
		amiss = w.amiss()
	}
	w.check(t, w.judge())
}

// tell begins the next line of the story.
func (w *walk) tell(line string, args ...any) {
	w.isCalm = false
	w.story = append(w.story, fmt.Sprintf(line, args...))
	w.wire.Requests.Step(w.story[len(w.story)-1])
}

// note adds to the last line of the story.
func (w *walk) note(text string) { w.story[len(w.story)-1] += ", " + text }

// check ends a walk that has failed. It says the same of each: those that are like it must be known as such,
// though namespaces, names of Pods and times are others.
func (w *walk) check(t *rapid.T, err error) {
	if err == nil {
		return
	}
	if w.portIsTaken() {
		t.Skip("while a Service was away, its node port was given to another namespace's; it is right to wait for it")
	}
	w.failed = err
	t.Fatal("the walk has failed; its shortest story is below")
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

// object is the resource, with a spec or for its name alone.
func (w *walk) object(r *wanted, spec map[string]any) *unstructured.Unstructured {
	object := r.in(w.namespace, spec)
	object.SetName(r.name)
	return object
}
