package fault

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

type lives struct {
	starts   int
	newest   *Instance
	opened   watchSet // the lists and watches of the newest instance
	expected watchSet // the lists and watches of the first instance when it was first idle
	synced   signal   // sent when the newest instance has opened the expected lists and watches
}

// start begins the life of an instance. Goroutines that are still waiting for the previous instance to sync wait for
// this one instead.
func (l *lives) start(instance *Instance) {
	l.starts++
	l.newest, l.opened = instance, newWatchSet()
	if l.synced.isSent() {
		l.synced = newSignal()
	}
}

// Starts returns the number of instances that have been started.
func (in *Injector) Starts() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.lives.starts
}

type watchSet struct{ watched, listed sets.Set[string] }

func newWatchSet() watchSet { return watchSet{sets.New[string](), sets.New[string]()} }

// covers reports whether an instance that has opened these lists and watches has synced. It has synced if it has opened
// all watches of an earlier instance, or all of its lists if the earlier instance had no watches. If others is empty,
// any list or watch is sufficient.
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

func (in *Injector) recordOpened(verb, target string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch verb {
	case "watch":
		in.lives.opened.watched.Insert(target)
	case "list":
		in.lives.opened.listed.Insert(target)
	}
	if in.lives.opened.covers(in.lives.expected) {
		in.lives.synced.send()
	}
}

// syncedSignal returns a channel that is closed when the instance has synced. The next instance gets a new channel.
func (in *Injector) syncedSignal() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.lives.synced.Done()
}

// Synced reports whether the latest instance watches everything that the first instance watched when it became idle for
// the first time. The first instance has synced as soon as it has listed or watched any resource.
func (in *Injector) Synced() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.lives.synced.isSent()
}

// WaitIdle waits until the operator has synced, and then until the operator has sent no request that matches the
// filters and no object in the scope's namespace has changed for the whole window. It waits for the sync first,
// because an operator that is starting or waiting for leadership also sends no requests.
func (in *Injector) WaitIdle(ctx context.Context, history *record.History, window time.Duration, filters ...record.Filter) error {
	start, synced := time.Now(), (<-chan struct{})(nil)
	for {
		if awake := in.syncedSignal(); awake != synced {
			select {
			case <-awake:
				start, synced = time.Now(), awake
			case <-ctx.Done():
				return fmt.Errorf("not idle for %s: the operator has not opened its watches again: %w", window, context.Cause(ctx))
			}
		}
		if err := in.Requests.WaitIdleSince(ctx, start, window, filters...); err != nil {
			return err
		}
		_, last := history.Changed(in.scope.Namespace)
		switch {
		case last.After(start):
			start = last
		case synced == in.syncedSignal():
			in.learnExpected()
			return nil
		}
	}
}

// learnExpected records the watches of the first instance when that instance becomes idle for the first time.
func (in *Injector) learnExpected() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.lives.starts == 1 && in.lives.expected.watched == nil {
		in.lives.expected = watchSet{watched: in.lives.opened.watched.Clone(), listed: in.lives.opened.listed.Clone()}
	}
}
