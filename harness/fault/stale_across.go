package fault

import "time"

// StaleAcross delays the events of a watch until the next action begins. The operator then handles an action with a
// view from before the previous one.
var StaleAcross = register(staleAcross{})

// acrossBound is the maximum delay of the events if the scenario waits for the operator before its next action.
const acrossBound = 5 * time.Second

type staleAcross struct{}

func (staleAcross) Name() string                       { return "stale-across" }
func (staleAcross) Category() Category                 { return Staleness }
func (staleAcross) Points(ref *Reference) []RequestKey { return ref.chooseActions(ref.Actions - 1) }

func (staleAcross) Begin(view *View) {
	view.pause()
	bound := time.AfterFunc(acrossBound, view.resume)
	view.onAction = func() {
		bound.Stop()
		view.whenIdle(view.resume)
	}
}
