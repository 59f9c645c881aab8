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

// A control plane uses about 500 MB of memory, and a full CPU for a few seconds at startup.
const (
	placesPerCPU = 2
	maxPlaces    = 16
)

// places manages the control planes for runs that need exclusive use of one. They are reused by later runs.
type places struct {
	needed atomic.Bool   // true once any run needs its own cluster; then all runs get one, so that their states are comparable
	room   chan struct{} // limits the number of control planes in use

	mu   sync.Mutex
	idle []*place
}

func newPlaces() *places {
	return &places{room: make(chan struct{}, min(placesPerCPU*runtime.GOMAXPROCS(0), maxPlaces))}
}

// take returns an idle control plane, or starts a new one.
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

// giveBack resets the control plane for the next run. If that fails, the control plane is stopped.
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
	_ = p.ControlPlane.Stop() // whoever started the control plane also stops it and sees the error
}

// needPlaces switches all future runs to control planes of their own.
func (e *Explorer) needPlaces(because string) {
	if !e.places.needed.Swap(true) {
		e.tell("each run has a control plane alone, %d at a time, because %s, which is cluster-wide", cap(e.places.room), because)
	}
}

// run plays a scenario on the shared control plane. If this or an earlier run writes cluster-scoped objects, it uses
// a separate control plane.
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

// writtenClusterWide returns the first cluster-scoped resource that was written, or an empty string.
func (e *Explorer) writtenClusterWide(writes []fault.Write) string {
	for _, write := range writes {
		if fault.IsShared(write.Target) && !write.Created {
			continue // fault.Serve does not store such a write
		}
		if e.clusterKinds.Has(schema.ParseGroupResource(write.Target)) {
			return write.Target
		}
	}
	return ""
}

// clusterScoped returns the first cluster-scoped kind, or an empty string.
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
