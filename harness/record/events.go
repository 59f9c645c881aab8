package record

import (
	"cmp"
	"slices"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
)

// EventTime returns the time at which an Event was last observed. A core/v1 recorder stores the time in deprecated
// fields, and an events.k8s.io recorder stores it in series or eventTime.
func EventTime(event eventsv1.Event) time.Time {
	if event.Series != nil {
		return event.Series.LastObservedTime.Time
	}
	return cmp.Or(event.DeprecatedLastTimestamp.Time, event.EventTime.Time, event.CreationTimestamp.Time)
}

// EventCount returns the number of times an Event was observed.
func EventCount(event eventsv1.Event) int32 {
	if event.Series != nil {
		return event.Series.Count
	}
	return max(event.DeprecatedCount, 1)
}

// SortEvents sorts Events by EventTime. The times of core/v1 Events have a resolution of one second. Events within the
// same second are sorted by the suffix of their names, which is the time in nanoseconds.
func SortEvents(events []eventsv1.Event) {
	suffix := func(event eventsv1.Event) string { return event.Name[strings.LastIndex(event.Name, ".")+1:] }
	slices.SortStableFunc(events, func(a, b eventsv1.Event) int {
		return cmp.Or(EventTime(a).Compare(EventTime(b)), strings.Compare(suffix(a), suffix(b)))
	})
}
