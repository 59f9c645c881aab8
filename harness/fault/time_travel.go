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
	TimeTravel         = register(timeTravel{name: "time-travel"})
	TimeTravelFar      = register(timeTravel{name: "time-travel-far", actionsLater: 1})
	TimeTravelDeleting = register(timeTravel{name: "time-travel-deleting", actionsLater: 1, intoDeletion: true})
)

// AllTargets is the target of a time-travel fault that affects all resources.
const AllTargets = "*"

type timeTravel struct {
	name string
	// actionsLater is the number of further actions that the operator must have seen before it goes back in time.
	actionsLater int
	// intoDeletion restores a state in which an object was being deleted, instead of the state before the action.
	intoDeletion bool
}

func (t timeTravel) Name() string     { return t.name }
func (timeTravel) Category() Category { return TimeTravels }

// Points depends on the type:
//   - TimeTravel returns each resource with each action after which it changed, and AllTargets with each action after
//     which several resources changed.
//   - TimeTravelFar returns AllTargets with each action whose next action is followed by a change.
//   - TimeTravelDeleting returns each resource with each action that left an object being deleted, if the resource
//     changed again after a later action.
func (t timeTravel) Points(ref *Reference) []RequestKey {
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

func (t timeTravel) Begin(view *View) {
	seen := view.action() + t.actionsLater
	if !t.intoDeletion {
		view.remember()
	}
	view.onEvent = func(deleting bool) {
		if view.versions == nil && deleting {
			view.remember()
		}
		if view.versions != nil && view.action() >= seen && !view.isPending() {
			view.whenIdle(view.goBack, view.resume)
			view.signalPending()
		}
	}
}
