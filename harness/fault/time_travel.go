package fault

import (
	"maps"
	"slices"
)

// Time travel, as Sieve (OSDI'22) calls it: the operator sees and acts on what an action of the scenario has changed. When it is
// idle, it restarts, and its lists and watches show the state before the action until it is idle again. With TimeTravelFar it
// has also acted on the action after that one. With TimeTravelDeleting it has seen that an object is being deleted and has
// acted on a later action, which may have created the object again. Then it sees the deletion again.
var (
	TimeTravel         = register(timeTravel{name: "time-travel"})
	TimeTravelFar      = register(timeTravel{name: "time-travel-far", actionsLater: 1})
	TimeTravelDeleting = register(timeTravel{name: "time-travel-deleting", actionsLater: 1, intoDeletion: true})
)

// AllTargets is the target of a time travel of all resources: an API server that lags as a whole.
const AllTargets = "*"

type timeTravel struct {
	name string
	// actionsLater is how many actions after that of the fault the operator must also have seen.
	actionsLater int
	// intoDeletion goes back to a state in which an object was being deleted, instead of the state before the action.
	intoDeletion bool
}

func (t timeTravel) Name() string     { return t.name }
func (timeTravel) Category() Category { return TimeTravels }

// Points returns every action after which a resource changed. If several resources changed, they also go back together.
func (t timeTravel) Points(ref *Reference) []RequestKey {
	var points []RequestKey
	together := map[int]int{} // how many resources changed after an action
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
