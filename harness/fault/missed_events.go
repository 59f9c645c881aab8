package fault

// MissedEvents is like Stale, but the watch fails with 410 instead of delivering the delayed events. The operator
// lists the resource again and never sees the intermediate states.
var MissedEvents = register(missedEvents{})

type missedEvents struct{}

func (missedEvents) Name() string                       { return "missed-events" }
func (missedEvents) Category() Category                 { return Staleness }
func (missedEvents) Points(ref *Reference) []RequestKey { return ref.chooseActions(ref.Actions) }

func (missedEvents) Begin(view *View) {
	view.pause()
	view.whenIdle(view.expire)
}
