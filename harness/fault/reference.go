package fault

import (
	"cmp"
	"slices"
)

// Reference describes the runs of a scenario without a fault, as far as the types of faults choose their points by it.
type Reference struct {
	// Writes and Reads are the requests that every run sent, without those that an earlier scenario covers.
	Writes, Reads []RequestKey
	// Watches are the watches that delivered an event after an action.
	Watches []Watch
	// Actions is the number of the scenario's actions.
	Actions int
	// HasSubject reports whether the scenario names the resource that it is about.
	HasSubject bool
	// Choose returns a number from 0 to n-1. A type that is injected at only some points chooses them by it.
	Choose func(n int) int
}

// Watch is a watch of a resource.
type Watch struct {
	Target string
	// Actions are the numbers of the actions after which an object of the resource changed, and Deletions of those after which
	// one was being deleted.
	Actions, Deletions []int
}

// point returns the watch as a point, from an action on.
func (w Watch) point(action int) RequestKey { return watchPoint(w.Target, action) }

func watchPoint(target string, action int) RequestKey {
	return RequestKey{Verb: "watch", Target: target, Name: "-", Nth: action}
}

// lastAction returns the last action after which an object changed.
func (w Watch) lastAction() int {
	if len(w.Actions) == 0 {
		return 0
	}
	return w.Actions[len(w.Actions)-1]
}

// requests returns the writes and reads, sorted.
func (r *Reference) requests() []RequestKey {
	all := slices.Concat(r.Writes, r.Reads)
	slices.SortFunc(all, func(a, b RequestKey) int { return cmp.Compare(a.String(), b.String()) })
	return all
}

// chooseOne returns one of the points, or none if there are none.
func (r *Reference) chooseOne(points []RequestKey) []RequestKey {
	if len(points) == 0 {
		return nil
	}
	return []RequestKey{points[r.Choose(len(points))]}
}

// chooseActions returns a point of every watch, from an action on that is at most last and is followed by an event.
func (r *Reference) chooseActions(last int) []RequestKey {
	var points []RequestKey
	for _, watch := range r.Watches {
		if latest := min(last, watch.lastAction()); latest > 0 {
			points = append(points, watch.point(1+r.Choose(latest)))
		}
	}
	return points
}
