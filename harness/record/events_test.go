package record

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEventTimeIsLastObservation(t *testing.T) {
	at := func(second int) time.Time { return time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC) }
	created := metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at(1))}
	for name, test := range map[string]struct {
		event eventsv1.Event
		time  time.Time
		count int32
	}{
		"events.k8s.io, once":     {eventsv1.Event{ObjectMeta: created, EventTime: metav1.NewMicroTime(at(2))}, at(2), 1},
		"events.k8s.io, a series": {eventsv1.Event{ObjectMeta: created, EventTime: metav1.NewMicroTime(at(2)), Series: &eventsv1.EventSeries{Count: 5, LastObservedTime: metav1.NewMicroTime(at(9))}}, at(9), 5},
		"core/v1, repeated":       {eventsv1.Event{ObjectMeta: created, DeprecatedLastTimestamp: metav1.NewTime(at(8)), DeprecatedCount: 3}, at(8), 3},
		"both APIs set":           {eventsv1.Event{ObjectMeta: created, EventTime: metav1.NewMicroTime(at(2)), DeprecatedLastTimestamp: metav1.NewTime(at(8)), DeprecatedCount: 2}, at(8), 2},
		"only creation timestamp": {eventsv1.Event{ObjectMeta: created}, at(1), 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(EventTime(test.event)).To(BeTemporally("==", test.time))
			g.Expect(EventCount(test.event)).To(Equal(test.count))
		})
	}
}

func TestSortEventsWithinOneSecond(t *testing.T) {
	event := func(name string, second int64) eventsv1.Event {
		return eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Name: name}, DeprecatedLastTimestamp: metav1.Unix(second, 0)}
	}
	events := []eventsv1.Event{event("web.18b", 1), event("cache.18a", 1), event("web.17f", 2)}
	SortEvents(events)
	NewWithT(t).Expect(events).To(HaveExactElements(HaveField("Name", "cache.18a"), HaveField("Name", "web.18b"), HaveField("Name", "web.17f")))
}
