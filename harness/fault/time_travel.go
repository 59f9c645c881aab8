package fault

import (
	"maps"
	"slices"
)

// Time-travel faults are described in Sieve (OSDI'22). The operator sees the result of an action and becomes idle. Then
// it is restarted, and its lists and watches return the state before the action until it is idle again.
//
// With TimeTravelFar, the operator also becomes idle after the following action before it is restarted. With
// TimeTravelDeleting, the operator sees an object that is being deleted, and then a later action, which may recreate
// the object. The restarted operator sees the deletion again.
var (
	TimeTravel         = timeTravel{}.register("time-travel")
	TimeTravelFar      = timeTravel{actionsLater: 1}.register("time-travel-far")
	TimeTravelDeleting = timeTravel{actionsLater: 1, intoDeletion: true}.register("time-travel-deleting")
)

// AllTargets is the target of a time-travel fault that affects all resources.
const AllTargets = "*"

type timeTravel struct {
	// actionsLater is how many actions after the targeted one the operator must see before the fault is injected.
	actionsLater int
	// If intoDeletion is true, the operator goes back to a state in which an object is being deleted, instead of the
	// state before the action.
	intoDeletion bool
}

func (t timeTravel) register(name string) Type {
	return register(&watchFault{common{name, TimeTravels, t.points}, t.begin})
}

// points returns a point for each action that meets the condition of the type:
//   - TimeTravel: a resource changed after the action. There is one point per resource, and another for AllTargets if
//     several resources changed.
//   - TimeTravelFar: a resource changed after the next action. The point is for AllTargets.
//   - TimeTravelDeleting: an object was being deleted after the action, and its resource changed again after a later
//     action. There is one point per resource.
func (t timeTravel) points(ref *Reference) []RequestKey {
	var points []RequestKey
	together := map[int]int{} // the number of resources that have changed after each action
	for _, watch := range ref.Watches {
		for _, action := range watch.Actions {
			together[action]++
			deletedBefore := slices.Contains(watch.Deletions, action) && watch.lastAction() > action
			if t.actionsLater == 0 || t.intoDeletion && deletedBefore {
				points = append(points, watch.point(action))
			}
		}
	}
	for _, action := range slices.Sorted(maps.Keys(together)) {
		switch {
		case t.intoDeletion:
		case t.actionsLater == 0 && together[action] > 1:
			points = append(points, watchPoint(AllTargets, action))
		case action > t.actionsLater && t.actionsLater > 0:
			points = append(points, watchPoint(AllTargets, action-t.actionsLater))
		}
	}
	return points
}

func (t timeTravel) begin(view *watchView) {
	seen := view.injector.actions + t.actionsLater
	if !t.intoDeletion {
		view.remember()
	}
	view.onEvent = func(deleting bool) {
		if view.versions == nil && deleting {
			view.remember()
		}
		if view.versions != nil && view.injector.actions >= seen {
			view.onEvent = nil
			view.whenIdle(view.goBack, view.resume)
			view.injector.release.pending.send()
		}
	}
}
