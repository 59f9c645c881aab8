package fault

import "time"

// StaleAcross withholds the events of a watch until the next action has begun, so that the operator handles one action with a
// view from before the other.
var StaleAcross = register(staleAcross{})

// acrossBound is how long events are withheld if the scenario waits for the operator before its next action.
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
