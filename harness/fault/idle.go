package fault

import (
	"context"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

type lives struct {
	starts   int
	newest   *Instance
	opened   sets.Set[RequestKey] // the lists and watches of the newest instance; Name and Nth are empty
	expected sets.Set[RequestKey] // the watches of the first instance when it was first idle, or its lists if it had none
	synced   signal               // sent when the newest instance has opened the expected lists and watches
}

// start registers a new instance. If the previous instance never synced, its synced signal is reused, so that
// goroutines waiting for that signal now wait for the new instance.
func (l *lives) start(instance *Instance) {
	l.starts++
	l.newest, l.opened = instance, sets.New[RequestKey]()
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

func (in *Injector) recordOpened(verb, target string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.lives.opened.Insert(RequestKey{Verb: verb, Target: target})
	if in.lives.opened.IsSuperset(in.lives.expected) {
		in.lives.synced.send()
	}
}

// syncedSignal returns a channel that is closed when the newest instance has synced. Any instance that starts after
// that gets a new channel.
func (in *Injector) syncedSignal() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.lives.synced.Done()
}

// Synced reports whether the newest instance has opened all watches that the first instance had opened when it first
// became idle. Until the first instance becomes idle, any list or watch is sufficient.
func (in *Injector) Synced() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.lives.synced.isSent()
}

// WaitIdle waits until the operator has synced and has then been idle for the whole window. The operator is idle while
// it sends no request that matches the filters and no object in the scope's namespace changes. WaitIdle waits for the
// sync first, because an operator that is starting or waiting for leadership also sends no requests.
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

func (in *Injector) learnExpected() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.lives.starts > 1 || in.lives.expected != nil {
		return
	}
	in.lives.expected = in.lives.opened.Clone()
	maps.DeleteFunc(in.lives.expected, func(key RequestKey, _ sets.Empty) bool { return key.Verb == "list" })
	if len(in.lives.expected) == 0 {
		in.lives.expected = in.lives.opened.Clone()
	}
}
