package oracle

import (
	"fmt"
	"time"
)

// retriesPerSecond is how often a request may be repeated within a second. The back-off of
// controller-runtime, 5 ms that double each time, repeats one 8 times in its first second.
const retriesPerSecond = 25

// BoundedRetries finds a request that was repeated in a hot loop: the same verb for the same object,
// more often within a second than any back-off allows.
func BoundedRetries(requests Requests) error {
	type what struct{ verb, target, name string }
	recent := map[what][]time.Time{}
	for _, request := range requests {
		if request.IsEvent() {
			continue // each is another, though its URL names none
		}
		key := what{request.Verb, request.Target(), request.Namespace + "/" + request.Name}
		times := append(recent[key], request.Time)
		for times[0].Before(request.Time.Add(-time.Second)) {
			times = times[1:]
		}
		if recent[key] = times; len(times) > retriesPerSecond {
			return fmt.Errorf("%s %s %s was asked %d times within a second", key.verb, key.target, key.name, len(times))
		}
	}
	return nil
}
