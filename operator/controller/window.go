package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// burst is how long a status that merely follows Pods waits for more of them to change.
const burst = 250 * time.Millisecond

// window keeps, for each resource whose status is out of date, since when.
type window struct {
	mu     sync.Mutex
	opened map[types.NamespacedName]time.Time
}

// remaining opens the window on the first call and says how much of it is left.
func (w *window) remaining(key types.NamespacedName) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.opened == nil {
		w.opened = map[types.NamespacedName]time.Time{}
	}
	since, open := w.opened[key]
	if !open {
		since = time.Now()
		w.opened[key] = since
	}
	return burst - time.Since(since)
}

// close forgets the resource: its status is up to date, or it is gone.
func (w *window) close(key types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.opened, key)
}
