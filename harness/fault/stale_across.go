package fault

import "time"

// StaleAcross delays the events of a watch until the next action begins. The operator then handles that action based on
// the state before the previous action.
var StaleAcross = register(staleAcross{})

// acrossBound limits the delay, because the scenario may wait for the operator before the next action.
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
