package explore

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/fault"
)

// A control plane needs half a gigabyte, and a CPU for some seconds until it has started.
const (
	placesPerCPU = 2
	maxPlaces    = 16
)

// places are the control planes of runs that have one alone. Each lives for many runs.
type places struct {
	needed atomic.Bool   // a run needs the whole cluster, so all do: their states are compared
	room   chan struct{} // one for each that is taken

	mu   sync.Mutex
	idle []*place
}

func newPlaces() *places {
	return &places{room: make(chan struct{}, min(placesPerCPU*runtime.GOMAXPROCS(0), maxPlaces))}
}

// take returns a place for one run.
func (e *Explorer) take(ctx context.Context) (*place, error) {
	e.places.room <- struct{}{}
	e.places.mu.Lock()
	if last := len(e.places.idle) - 1; last >= 0 {
		defer e.places.mu.Unlock()
		p := e.places.idle[last]
		e.places.idle = e.places.idle[:last]
		return p, nil
	}
	e.places.mu.Unlock()
	p, err := e.newPlace(ctx)
	if err != nil {
		<-e.places.room
		return nil, fmt.Errorf("starting a control plane for one run at a time: %w", err)
	}
	return p, nil
}

// giveBack makes a place ready for the next run. If that cannot be done, it is given up.
func (e *Explorer) giveBack(ctx context.Context, p *place, r *run) {
	defer func() { <-e.places.room }()
	var err error
	if r != nil && ctx.Err() == nil {
		<-r.ended
		if err = p.reset(ctx, r.namespace); err == nil {
			e.places.mu.Lock()
			defer e.places.mu.Unlock()
			e.places.idle = append(e.places.idle, p)
			return
		}
	}
	if err != nil && ctx.Err() == nil {
		e.tell("a control plane is replaced, because what a run of %s left cannot be deleted: %v", r.Name, err)
	}
	_ = p.ControlPlane.Stop() // whoever started it will hear of it
}

// needPlaces has each run from now on have a control plane alone.
func (e *Explorer) needPlaces(because string) {
	if !e.places.needed.Swap(true) {
		e.tell("each run has a control plane alone, %d at a time, because %s, which is cluster-wide", cap(e.places.room), because)
	}
}

// run plays a scenario with an operator: on the shared control plane, unless it, or one before, needs a cluster alone.
func (e *Explorer) run(ctx context.Context, a attempt) (*run, outcome, error) {
	if e.Another == nil {
		return e.runShared(ctx, a)
	}
	if kind := e.clusterScoped(a.Kinds); kind != "" {
		e.needPlaces("a scenario has a " + kind)
	}
	if !e.places.needed.Load() {
		r, end, err := e.runShared(ctx, a)
		if err != nil || a.fault.Type != fault.None {
			return r, end, err
		}
		written := e.writtenClusterWide(slices.Concat(r.injector.Writes(), r.besideWrites()))
		if written == "" {
			return r, end, nil
		}
		e.needPlaces("the operator writes to " + written)
	}
	p, err := e.take(ctx)
	if err != nil {
		return nil, outcome{}, err
	}
	r, end, err := e.play(ctx, p, a)
	e.giveBack(ctx, p, r)
	return r, end, err
}

// writtenClusterWide returns the first cluster-scoped resource of which an object was changed; empty if there is none.
func (e *Explorer) writtenClusterWide(writes []fault.Write) string {
	for _, write := range writes {
		if fault.IsShared(write.Target) && !write.Created {
			continue // it is not stored
		}
		if e.clusterKinds.Has(schema.ParseGroupResource(write.Target)) {
			return write.Target
		}
	}
	return ""
}

// clusterScoped returns the first kind that has no namespace; empty if there is none.
func (e *Explorer) clusterScoped(kinds []schema.GroupVersionKind) string {
	for _, kind := range kinds {
		for resource := range e.clusterKinds {
			if e.kinds[resource] == kind.GroupKind() {
				return kind.Kind
			}
		}
	}
	return ""
}
