package fault

import (
	"cmp"
	"slices"
)

// Reference describes the fault-free runs of a scenario. Fault types use it to determine their injection points.
type Reference struct {
	// Writes and Reads are the requests that every run sent. Requests that another scenario covers are omitted.
	Writes, Reads []RequestKey
	Watches       []Watch // on resources that changed after an action
	Actions       int
	HasSubject    bool // true if the scenario names its main resource
	// Choose returns a number from 0 to n-1. Fault types use it to choose among their possible injection points.
	Choose func(n int) int
}

// Watch describes a watch on a resource in the reference runs.
type Watch struct {
	Target string
	// Actions lists the actions, numbered from 1, that were followed by a change to an object. It is never empty.
	// Deletions lists the actions that were followed by a change to an object that was being deleted.
	Actions, Deletions []int
}

func (w Watch) point(action int) RequestKey { return watchPoint(w.Target, action) }

func watchPoint(target string, action int) RequestKey {
	return RequestKey{Verb: "watch", Target: target, Name: "-", Nth: action}
}

func (w Watch) lastAction() int { return w.Actions[len(w.Actions)-1] }

func atAllRequests(*Reference) []RequestKey { return []RequestKey{{}} }
func atWrites(ref *Reference) []RequestKey  { return ref.Writes }

func atOneRequest(ref *Reference) []RequestKey {
	all := slices.Concat(ref.Writes, ref.Reads)
	slices.SortFunc(all, func(a, b RequestKey) int { return cmp.Compare(a.String(), b.String()) })
	return ref.chooseOne(all)
}

func (r *Reference) chooseOne(points []RequestKey) []RequestKey {
	if len(points) == 0 {
		return nil
	}
	return []RequestKey{points[r.Choose(len(points))]}
}

// chooseActions chooses at most one action from 1 to last for each watch. It ignores the actions after the final change
// to the watched resource, because the watch delivers no events after that.
func (r *Reference) chooseActions(last int) []RequestKey {
	var points []RequestKey
	for _, watch := range r.Watches {
		if latest := min(last, watch.lastAction()); latest > 0 {
			points = append(points, watch.point(1+r.Choose(latest)))
		}
	}
	return points
}
