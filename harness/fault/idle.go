package fault

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

// lives are the starts of the operator.
type lives struct {
	starts   int
	newest   *Instance
	startup  startup
	expected watchSet // what the first instance watched when it was first idle
}

// Starts returns how many instances have started.
func (in *Injector) Starts() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.lives.starts
}

// crashInstance crashes the newest instance.
func (in *Injector) crashInstance() {
	in.mu.Lock()
	newest := in.lives.newest
	in.mu.Unlock()
	newest.crash()
}

// startup is how far the newest instance has started.
type startup struct {
	opened     watchSet        // resources that it lists or watches
	synced     context.Context // until the instance is synced, which noteSynced says
	noteSynced context.CancelFunc
}

func newStartup() startup {
	synced, noteSynced := context.WithCancel(context.Background())
	return startup{watchSet{watched: sets.New[string](), listed: sets.New[string]()}, synced, noteSynced}
}

// next is the startup of the next instance. If this instance never synced, waiters carry over to the next one.
func (w startup) next() startup {
	next := newStartup()
	if w.synced.Err() == nil {
		next.synced, next.noteSynced = w.synced, w.noteSynced
	}
	return next
}

// watchSet is the set of resources that an operator has listed and is watching.
type watchSet struct{ watched, listed sets.Set[string] }

// covers reports whether an operator with these lists and watches knows its work, given those of an earlier instance:
// all of its watches; or, if it watched nothing, all of its lists; or, without an earlier instance, any list or
// watch.
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

// recordOpened records that the API server has answered a list, or opened a watch, of the newest instance.
func (in *Injector) recordOpened(verb, target string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch verb {
	case "watch":
		in.lives.startup.opened.watched.Insert(target)
	case "list":
		in.lives.startup.opened.listed.Insert(target)
	}
	if in.lives.startup.opened.covers(in.lives.expected) {
		in.lives.startup.noteSynced()
	}
}

// syncedSignal is closed when the instance is synced. The next instance gets a new channel.
func (in *Injector) syncedSignal() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.lives.startup.synced.Done()
}

// Synced reports whether the newest instance knows its work: it watches everything that the first instance watched when
// it was idle for the first time. The first instance is synced as soon as it has listed or watched anything.
func (in *Injector) Synced() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.lives.startup.synced.Err() != nil
}

// WaitIdle waits until the operator is synced and then, for a whole window, sends no request that the filters match,
// while no object changes in the scope's namespace. An operator that is starting, or waiting to become the leader,
// sends nothing either, but has its work before it: so Synced comes first.
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

// learnExpected keeps the watches of the first instance, when it is idle for the first time, as those that later
// instances must open.
func (in *Injector) learnExpected() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.lives.starts == 1 && in.lives.expected.watched == nil {
		in.lives.expected = watchSet{watched: in.lives.startup.opened.watched.Clone(), listed: in.lives.startup.opened.listed.Clone()}
	}
}
