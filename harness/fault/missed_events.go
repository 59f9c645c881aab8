package fault

// MissedEvents is Stale, except that the watch ends with 410 instead of delivering the withheld events. The operator lists
// again and never sees the states in between.
var MissedEvents = register(missedEvents{})

type missedEvents struct{}

func (missedEvents) Name() string                       { return "missed-events" }
func (missedEvents) Category() Category                 { return Staleness }
func (missedEvents) Points(ref *Reference) []RequestKey { return ref.chooseActions(ref.Actions) }

func (missedEvents) Begin(view *View) {
	view.pause()
	view.whenIdle(view.expire)
}
