package fault

// Stale delays the events of a watch from one action of the scenario until the operator is idle.
var Stale = register(stale{})

type stale struct{}

func (stale) Name() string                       { return "stale" }
func (stale) Category() Category                 { return Staleness }
func (stale) Points(ref *Reference) []RequestKey { return ref.chooseActions(ref.Actions) }

func (stale) Begin(view *View) {
	view.pause()
	view.whenIdle(view.resume)
}
