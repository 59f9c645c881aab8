package faultinject

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/test/harness/record"
)

// startup is how far the newest incarnation has come with its start.
type startup struct {
	opened watchSet      // that it has opened
	synced chan struct{} // closed when it is awake
}

func newStartup() startup {
	return startup{opened: watchSet{watched: sets.New[string](), listed: sets.New[string]()}, synced: make(chan struct{})}
}

// next is the waking of the next incarnation. Whoever waits for one that has died without, waits for that.
func (w startup) next() startup {
	next := newStartup()
	if !w.isSynced() {
		next.synced = w.synced
	}
	return next
}

func (w startup) isSynced() bool {
	select {
	case <-w.synced:
		return true
	default:
		return false
	}
}

// watchSet are the resources that an operator has had told to it.
type watchSet struct{ watched, listed sets.Set[string] }

// covers tells whether they are enough to know what there is to do, as the others are: all of their watches, or
// all lists of an operator that watches nothing, or any of both if nothing is known of others.
func (v watchSet) covers(others watchSet) bool {
	switch {
	case len(others.watched) > 0:
		return v.watched.IsSuperset(others.watched)
	case len(others.listed) > 0:
		return v.listed.IsSuperset(others.listed)
	default:
		return len(v.watched)+len(v.listed) > 0
	}
}

// recordOpened notes that the newest incarnation has been told of a resource.
func (in *Injector) recordOpened(verb, target string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch verb {
	case "watch":
		in.startup.opened.watched.Insert(target)
	case "list":
		in.startup.opened.listed.Insert(target)
	}
	in.signalSynced()
}

// signalSynced notes it when the newest incarnation is awake. The caller holds the lock.
func (in *Injector) signalSynced() {
	if in.startup.opened.covers(in.expected) && !in.startup.isSynced() {
		close(in.startup.synced)
	}
}

// syncedSignal is closed when an incarnation is awake, and is another one for the next.
func (in *Injector) syncedSignal() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.startup.synced
}

// Synced tells whether the newest incarnation knows what there is to do: it watches all that the first one watched
// when that first came to rest. That one is awake as soon as it has listed or watched anything.
func (in *Injector) Synced() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.startup.isSynced()
}

// WaitIdle waits until the operator is awake and then, for a whole window, has asked for nothing that the filters
// keep, and nothing has changed in its scope's namespace, as the witness sees it. One that starts again, or waits to
// become the leader, is silent, too, and has everything before it.
func (in *Injector) WaitIdle(ctx context.Context, history *record.History, window time.Duration, filters ...record.Filter) error {
	for {
		awake := in.syncedSignal()
		select {
		case <-awake:
		case <-ctx.Done():
			return fmt.Errorf("not at rest for %s: it has not come back to what it watches: %w", window, context.Cause(ctx))
		}
		if err := in.Requests.WaitIdle(ctx, window, filters...); err != nil {
			return err
		}
		changed, last := history.Changed(in.scope.Namespace)
		remaining := window - time.Since(last)
		if remaining <= 0 && awake == in.syncedSignal() {
			in.learnExpected()
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

// learnExpected learns from the first incarnation's first rest what those after it have to watch.
func (in *Injector) learnExpected() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.starts == 1 && in.expected.watched == nil {
		in.expected = watchSet{watched: in.startup.opened.watched.Clone(), listed: in.startup.opened.listed.Clone()}
	}
}
