package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/operator/api/workload"
)

// debouncer keeps the resources whose status is out of date: since when, and what it is to become. They are a crowd:
// while some of them complete, the others wait, since they are about to complete as well.
type debouncer struct {
	mu        sync.Mutex
	pending   map[types.NamespacedName]pendingStatus
	completed time.Time // when a resource last became complete
}

type pendingStatus struct {
	status        *workload.Status
	first, latest time.Time     // when status became out of date, and when it last changed
	crowd         time.Duration // how many others have waited at once
}

// delay is for how long a status is not written yet.
func (d *debouncer) delay(key types.NamespacedName, status *workload.Status, now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pending == nil {
		d.pending = map[types.NamespacedName]pendingStatus{}
	}
	p, open := d.pending[key]
	delete(d.pending, key)
	if !open {
		p.first = now
	}
	if !open || !equalIgnoringTimes(p.status, status) {
		p.status, p.latest = status, now
	}
	p.crowd = min(max(p.crowd, time.Duration(len(d.pending))), debounceCrowd)
	d.pending[key] = p
	latest := p.latest
	if p.crowd > 0 && d.completed.After(latest) {
		latest = d.completed
	}
	return min(latest.Add(debounceQuiet+p.crowd*debounceQuietEach).Sub(now), p.first.Add(debounceMax+p.crowd*debounceMaxEach).Sub(now))
}

// complete notes that a resource is as its spec asks.
func (d *debouncer) complete(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.completed = now
}

// forget the resource: its status is up to date, or it is gone.
func (d *debouncer) forget(key types.NamespacedName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.pending, key)
}

// equalIgnoringTimes compares statuses but for transition times: that of a transition that is not written yet is
// the time of its computation.
func equalIgnoringTimes(a, b *workload.Status) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	for _, status := range []*workload.Status{a, b} {
		for i := range status.Conditions {
			status.Conditions[i].LastTransitionTime = metav1.Time{}
		}
	}
	return equality.Semantic.DeepEqual(a, b)
}
