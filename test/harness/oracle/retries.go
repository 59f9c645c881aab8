package oracle

import (
	"fmt"
	"net/http"
	"time"

	"github.com/operator-assay/assay/test/harness/record"
)

// A request may be repeated this often within this time. The back-off of controller-runtime, 5 ms that
// double each time, repeats one 9 times; and with client-go's RetryOnConflict, 5 times 10 ms apart, in
// each of those, 45 times.
const (
	retries       = 50
	retriesWithin = 2 * time.Second
)

// BoundedRetries finds a request that was repeated in a hot loop: the same verb for the same object,
// more often within a time than any back-off allows.
func BoundedRetries(requests record.Requests) error {
	type what struct{ verb, target, name string }
	recent := map[what][]time.Time{}
	for _, request := range requests {
		if request.IsEvent() || request.Name == "" && request.Status == http.StatusCreated {
			continue // each is another, though its URL names none
		}
		key := what{request.Verb, request.Target(), request.Namespace + "/" + request.Name}
		recent[key] = append(recent[key], request.Time)
		for recent[key][0].Before(request.Time.Add(-retriesWithin)) {
			recent[key] = recent[key][1:]
		}
		if times := len(recent[key]); times > retries {
			return fmt.Errorf("%s %s %s was asked %d times within %s", key.verb, key.target, key.name, times, retriesWithin)
		}
	}
	return nil
}
