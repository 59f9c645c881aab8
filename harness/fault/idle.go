package fault

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/record"
)

type lives struct {
	starts   int
	newest   *Instance
	opened   sets.Set[RequestKey] // the lists and watches of the newest instance; Name and Nth are empty
	expected sets.Set[RequestKey] // the watches of the first instance when it was first idle, or its lists if it had none
	syncedAt time.Time            // when the newest instance had opened the expected lists and watches, or zero
}

func (l *lives) start(instance *Instance) {
	l.starts++
	l.newest, l.opened, l.syncedAt = instance, sets.New[RequestKey](), time.Time{}
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
	if in.lives.syncedAt.IsZero() && in.lives.opened.IsSuperset(in.lives.expected) {
		in.lives.syncedAt = time.Now()
	}
}

// Synced reports whether the newest instance has opened all watches that the first instance had opened when it first
// became idle. Until the first instance is idle, Synced returns true after any list or watch.
func (in *Injector) Synced() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return !in.lives.syncedAt.IsZero()
}

// WaitIdle waits until the operator has synced and has then been idle for the whole window. The operator counts as idle
// while it sends no matching requests and nothing in the scope's namespace changes. WaitIdle waits for the sync first,
// because an operator that is starting or waiting for leadership also sends no requests.
func (in *Injector) WaitIdle(ctx context.Context, history *record.History, window time.Duration, filters ...record.Filter) error {
	err := in.Requests.WaitIdleAnd(ctx, window, func() time.Time { return in.lastChange(history) }, filters...)
	switch {
	case err == nil:
		in.learnExpected()
	case !in.Synced():
		return fmt.Errorf("the operator was not idle for %s: it has not reopened its watches: %w", window, context.Cause(ctx))
	}
	return err
}

// lastChange returns the time at which an object changed or the operator synced, whichever is later. It returns the
// current time if the operator has not synced.
func (in *Injector) lastChange(history *record.History) time.Time {
	_, changed := history.Changed(in.scope.Namespace)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.lives.syncedAt.IsZero() {
		return time.Now()
	}
	return slices.MaxFunc([]time.Time{in.lives.syncedAt, changed}, time.Time.Compare)
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
