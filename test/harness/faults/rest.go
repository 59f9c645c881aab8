package faults

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/test/harness/oracle"
)

// waking is how far the newest incarnation has come with its start.
type waking struct {
	opened views         // that it has opened
	done   chan struct{} // closed when it is awake
}

func newWaking() waking {
	return waking{opened: views{watched: sets.New[string](), listed: sets.New[string]()}, done: make(chan struct{})}
}

// another is the waking of the next incarnation. Whoever waits for one that has died without, waits for that.
func (w waking) another() waking {
	next := newWaking()
	if !w.over() {
		next.done = w.done
	}
	return next
}

func (w waking) over() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// views are the resources that an operator has had told to it.
type views struct{ watched, listed sets.Set[string] }

// include tells whether they are enough to know what there is to do, as the others are: all of their watches, or
// all lists of an operator that watches nothing, or any of both if nothing is known of others.
func (v views) include(others views) bool {
	switch {
	case len(others.watched) > 0:
		return v.watched.IsSuperset(others.watched)
	case len(others.listed) > 0:
		return v.listed.IsSuperset(others.listed)
	default:
		return len(v.watched)+len(v.listed) > 0
	}
}

// opens notes that the newest incarnation has been told of a resource.
func (w *Wire) opens(verb, target string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch verb {
	case "watch":
		w.waking.opened.watched.Insert(target)
	case "list":
		w.waking.opened.listed.Insert(target)
	}
	w.rouse()
}

// rouse notes it when the newest incarnation is awake. The caller holds the lock.
func (w *Wire) rouse() {
	if w.waking.opened.include(w.usual) && !w.waking.over() {
		close(w.waking.done)
	}
}

// awakening is closed when an incarnation is awake, and is another one for the next.
func (w *Wire) awakening() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waking.done
}

// Awake tells whether the newest incarnation knows what there is to do: it watches all that the first one watched
// when that first came to rest. That one is awake as soon as it has listed or watched anything.
func (w *Wire) Awake() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waking.over()
}

// Rest waits until the operator is awake and then, for a whole window, has asked for nothing that the filters
// keep, and nothing has changed in its scope's namespace, as the witness sees it. One that starts again, or waits to
// become the leader, is silent, too, and has everything before it.
func (w *Wire) Rest(ctx context.Context, witness *oracle.Witness, window time.Duration, filters ...oracle.Filter) error {
	for {
		awake := w.awakening()
		select {
		case <-awake:
		case <-ctx.Done():
			return fmt.Errorf("not at rest for %s: it has not come back to what it watches: %w", window, context.Cause(ctx))
		}
		if err := w.Requests.Silent(ctx, window, filters...); err != nil {
			return err
		}
		changed, last := witness.Changed(w.scope.Namespace)
		remaining := window - time.Since(last)
		if remaining <= 0 && awake == w.awakening() {
			w.rested()
			return nil
		}
		select {
		case <-changed:
		case <-time.After(max(remaining, window/10)):
		case <-ctx.Done():
			return fmt.Errorf("not at rest for %s: %w", window, context.Cause(ctx))
		}
	}
}

// rested learns from the first incarnation's first rest what those after it have to watch.
func (w *Wire) rested() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lives == 1 && w.usual.watched == nil {
		w.usual = views{watched: w.waking.opened.watched.Clone(), listed: w.waking.opened.listed.Clone()}
	}
}
