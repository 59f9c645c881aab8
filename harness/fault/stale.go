package fault

import "time"

// These faults pause a watch at the beginning of an action. Stale ends the pause when the operator is idle, and the
// watch then delivers the delayed events. StaleRestart restarts the operator before that. After the restart, the
// operator lists the old state first. MissedEvents makes the watch fail with 410 instead of delivering the events, so
// the operator lists the resource again and misses the intermediate states.
//
// StaleAcross delays the events until the next action begins. The operator then handles that action based on the state
// before the previous action.
var (
	Stale = register(&watchFault{common{"stale", Staleness, atOneAction}, func(view *watchView) {
		view.pause()
		view.whenIdle(view.resume)
	}})
	StaleRestart = register(&watchFault{common{"stale-restart", Staleness, atOneAction}, func(view *watchView) {
		view.pause()
		view.whenIdle(view.crash, view.resume)
	}})
	MissedEvents = register(&watchFault{common{"missed-events", Staleness, atOneAction}, func(view *watchView) {
		view.pause()
		view.whenIdle(view.expire)
	}})
	StaleAcross = register(&watchFault{
		common{"stale-across", Staleness, func(ref *Reference) []RequestKey { return ref.chooseActions(ref.Actions - 1) }},
		func(view *watchView) {
			view.pause()
			bound := time.AfterFunc(acrossBound, view.resume)
			view.onAction = func() {
				bound.Stop()
				view.whenIdle(view.resume)
			}
		},
	})
)

// acrossBound limits how long StaleAcross waits for the next action. Without this limit, a scenario that waits for the
// effect of the delayed events before its next action would time out.
const acrossBound = 5 * time.Second

func atOneAction(ref *Reference) []RequestKey { return ref.chooseActions(ref.Actions) }
