package fault

// Stale pauses a watch from the beginning of an action until the operator is idle. The watch then delivers the delayed
// events.
var Stale = register(stale{})

type stale struct{}

func (stale) Name() string                       { return "stale" }
func (stale) Category() Category                 { return Staleness }
func (stale) Points(ref *Reference) []RequestKey { return ref.chooseActions(ref.Actions) }

func (stale) Begin(view *View) {
	view.pause()
	view.whenIdle(view.resume)
}
