package fault

// MissedEvents delays the events of a watch in the same way as Stale. The watch then fails with 410 instead of
// delivering the events, so the operator lists the resource again and misses the intermediate states.
var MissedEvents = register(missedEvents{})

type missedEvents struct{}

func (missedEvents) Name() string                       { return "missed-events" }
func (missedEvents) Category() Category                 { return Staleness }
func (missedEvents) Points(ref *Reference) []RequestKey { return ref.chooseActions(ref.Actions) }

func (missedEvents) Begin(view *View) {
	view.pause()
	view.whenIdle(view.expire)
}
