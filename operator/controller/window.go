package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/operator/api/workload"
)

// Pods change in bursts. A status that follows them is written when it has not changed for a lull,
// and after burst even if it goes on changing.
const (
	lull  = 200 * time.Millisecond
	burst = 800 * time.Millisecond
)

// window keeps the resources whose status is out of date: since when, and what it is to become.
type window struct {
	mu      sync.Mutex
	pending map[types.NamespacedName]pending
}

type pending struct {
	status        *workload.Status
	first, latest time.Time // when status became out of date, and when it last changed
}

// remaining opens a resource's window if it is not open, and says how much of it is left.
func (w *window) remaining(key types.NamespacedName, status *workload.Status) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	p, open := w.pending[key]
	if !open {
		p.first = now
	}
	if !open || !sameButTimes(p.status, status) {
		p.status, p.latest = status.DeepCopy(), now
	}
	if w.pending == nil {
		w.pending = map[types.NamespacedName]pending{}
	}
	w.pending[key] = p
	return min(p.latest.Add(lull).Sub(now), p.first.Add(burst).Sub(now))
}

// close forgets the resource: its status is up to date, or it is gone.
func (w *window) close(key types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pending, key)
}

// sameButTimes compares what two statuses say; every look dates a transition that is not written yet
// anew.
func sameButTimes(a, b *workload.Status) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	for _, status := range []*workload.Status{a, b} {
		for i := range status.Conditions {
			status.Conditions[i].LastTransitionTime = metav1.Time{}
		}
	}
	return equality.Semantic.DeepEqual(a, b)
}
