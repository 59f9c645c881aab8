package controller

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// memories are what a reconciler remembers of resources, by their keys, until they are gone. A restart forgets it, which
// costs some requests and breaks no promise.
type memories struct{ sync.Map }

// memory is what is remembered of a resource. No two reconciles of a resource run at a time, so no lock guards it.
type memory struct {
	of           types.UID            // the resource's
	verified     uint64               // the fingerprint of children that were up to date
	failingSince map[string]time.Time // when writes of a child began to fail that are expected to pass, by its kind
	repairs      map[string]*repairs  // of the same fields of a child
	holds        map[string]hold      // of children, by kind
}

// hold keeps a child from being written until its blocker may be gone, or the owner's spec is another.
type hold struct {
	blocker    *blocker
	generation int64     // the owner's
	uid        types.UID // of the object; empty if there is none, or one of somebody else that the cache does not show
	drifted    string    // the fields of it that were to be written
	until      time.Time
	delay      time.Duration // half of the next one
}

// of returns what is remembered of this very resource: one that was replaced under its name leaves nothing to its successor.
func (m *memories) of(resource client.Object) *memory {
	key := client.ObjectKeyFromObject(resource)
	if remembered, found := m.Load(key); found && remembered.(*memory).of == resource.GetUID() {
		return remembered.(*memory)
	}
	fresh := &memory{of: resource.GetUID()}
	m.Store(key, fresh)
	return fresh
}

// upToDate reports whether every child is as the owner asks, at once if they are what they were the last time: most events
// of a child are about its status, and a fingerprint costs a tenth of extracting what this operator owns.
func (m *memory) upToDate(owner client.Object, children children) bool {
	if slices.ContainsFunc(children.all(), m.isBehind) {
		return false
	}
	fingerprint := children.fingerprint()
	if m.verified != fingerprint && children.upToDate(owner) {
		m.verified = fingerprint
	}
	return m.verified == fingerprint
}

// failingFor is for how long writes of a child fail. The time runs from the first call on, until it is as desired.
func (m *memory) failingFor(child *child, now time.Time) time.Duration {
	if m.failingSince == nil {
		m.failingSince = map[string]time.Time{}
	}
	if m.failingSince[child.kind].IsZero() {
		m.failingSince[child.kind] = now
	}
	return now.Sub(m.failingSince[child.kind])
}

// succeed forgets what has failed: nothing is in the way any more.
func (m *memory) succeed() { m.failingSince, m.holds = nil, nil }

// repairs bounds how often the same fields of a child are repaired.
type repairs struct {
	*rate.Limiter
	contested *blocker // once there were too many
	undone    bool     // this reconcile has found the fields changed
}

// wait is how long the next repair has to wait.
func (r *repairs) wait() time.Duration {
	return max(0, time.Duration((1-r.Tokens())*float64(repairInterval)))
}

// repairsOf are those of the fields of a child that have drifted now.
func (m *memory) repairsOf(child *child) *repairs {
	fields := fmt.Sprint(child.kind, child.drifted())
	if m.repairs == nil {
		m.repairs = map[string]*repairs{}
	}
	if m.repairs[fields] == nil {
		m.repairs[fields] = &repairs{Limiter: rate.NewLimiter(rate.Every(repairInterval), repairBurst)}
	}
	return m.repairs[fields]
}

// contested are the blockers of fields that were repaired too often, sorted. One is over when its next repair would not
// have to wait: nobody has undone the last for so long.
func (m *memory) contested() []*blocker {
	var contested []*blocker
	for _, repairs := range m.repairs {
		wait := repairs.wait()
		if wait == 0 && !repairs.undone {
			repairs.contested = nil
		}
		if repairs.contested != nil {
			told := *repairs.contested
			told.retryAfter = max(wait, baseDelay)
			if !repairs.undone {
				told.child = "" // which is as desired, so that its rollout goes on
			}
			contested = append(contested, &told)
		}
		repairs.undone = false
	}
	slices.SortFunc(contested, func(a, b *blocker) int { return cmp.Compare(a.message, b.message) })
	return contested
}

// hold keeps a child from being written for as long as its blocker says. If the blocker names no time, it gets one, twice as
// long as the last, so that events do not cause an earlier try. A message that differs only in numbers is not replaced.
func (m *memory) hold(owner client.Object, child *child, blocker *blocker, now time.Time) {
	last := m.holds[child.kind]
	if last.generation != owner.GetGeneration() {
		last = hold{}
	}
	if last.blocker != nil && last.blocker.reason == blocker.reason && sameWords(last.blocker.message, blocker.message) {
		blocker.message = last.blocker.message
	}
	delay := min(max(baseDelay, 2*last.delay), maxDelay)
	if blocker.retryAfter == 0 {
		blocker.retryAfter = delay
	}
	if m.holds == nil {
		m.holds = map[string]hold{}
	}
	uid := child.object.GetUID()
	if child.hidden && !child.isControlledBy(owner) {
		uid = "" // a stranger's is not read at every event; a child is, since what it runs is to be reported
	}
	m.holds[child.kind] = hold{blocker, owner.GetGeneration(), uid, fmt.Sprint(child.drifted()), now.Add(blocker.retryAfter), delay}
}

// isBehind reports whether the cache shows an older version of the child than was written.
func (m *memory) isBehind(child *child) bool {
	hold := m.holds[child.kind]
	return hold.uid == child.object.GetUID() && hold.blocker != nil && hold.blocker.written != "" && !hold.blocker.isSeen(child)
}

// release forgets what kept a child from being written, which is as desired now.
func (m *memory) release(child *child) {
	delete(m.holds, child.kind)
	delete(m.failingSince, child.kind)
}

// held is what keeps a child from being written, if that still holds. It holds for the same write alone: a child that has
// been deleted since, or other fields, are not what was refused.
func (m *memory) held(owner client.Object, child *child, now time.Time) *blocker {
	hold := m.holds[child.kind] // without one, the zero hold, whose time is over
	if hold.generation != owner.GetGeneration() || !now.Before(hold.until) || hold.uid != child.object.GetUID() ||
		hold.uid != "" && hold.drifted != fmt.Sprint(child.drifted()) || hold.blocker.isSeen(child) {
		return nil
	}
	rest := *hold.blocker
	rest.retryAfter = hold.until.Sub(now)
	return &rest
}
