package record

import (
	"cmp"
	"slices"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
)

// EventTime returns when an Event was observed last, as kubectl events reads it: recorders of the core/v1 API
// leave the time in the deprecated fields, those of events.k8s.io in the series or in eventTime.
func EventTime(event eventsv1.Event) time.Time {
	if event.Series != nil {
		return event.Series.LastObservedTime.Time
	}
	for _, known := range []time.Time{event.DeprecatedLastTimestamp.Time, event.EventTime.Time} {
		if !known.IsZero() {
			return known
		}
	}
	return event.CreationTimestamp.Time
}

// EventCount returns how often an Event was observed.
func EventCount(event eventsv1.Event) int32 {
	if event.Series != nil {
		return event.Series.Count
	}
	return max(event.DeprecatedCount, 1)
}

// SortEvents sorts Events by EventTime. core/v1 times have a resolution of one second; within it, the order is
// that of the names, which recorders end with the time in nanoseconds after the last dot.
func SortEvents(events []eventsv1.Event) {
	suffix := func(event eventsv1.Event) string { return event.Name[strings.LastIndex(event.Name, ".")+1:] }
	slices.SortStableFunc(events, func(a, b eventsv1.Event) int {
		return cmp.Or(EventTime(a).Compare(EventTime(b)), strings.Compare(suffix(a), suffix(b)))
	})
}
