package fault

// StaleRestart is like Stale, but the operator is restarted before it receives the delayed events. After the restart,
// it lists the old state first.
var StaleRestart = register(staleRestart{})

type staleRestart struct{}

func (staleRestart) Name() string                       { return "stale-restart" }
func (staleRestart) Category() Category                 { return Staleness }
func (staleRestart) Points(ref *Reference) []RequestKey { return ref.chooseActions(ref.Actions) }

func (staleRestart) Begin(view *View) {
	view.pause()
	view.whenIdle(view.crash, view.resume)
}
