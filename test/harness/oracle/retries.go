package oracle

import (
	"fmt"
	"net/http"
	"time"

	"github.com/operator-assay/assay/test/harness/record"
)

// A request may be repeated up to maxRepeats times within repeatWindow. controller-runtime's back-off of 5 ms,
// doubled each time, repeats a request 9 times within it; with client-go's RetryOnConflict, 5 attempts 10 ms apart,
// in each of these, 45 times.
const (
	maxRepeats   = 50
	repeatWindow = 2 * time.Second
)

// BoundedRetries returns an error if a request was repeated in a hot loop: the same verb for the same object, more
// often within a time than any back-off allows.
func BoundedRetries(requests record.Requests) error {
	type what struct{ verb, target, name string }
	recent := map[what][]time.Time{}
	for _, request := range requests {
		if request.IsEvent() || request.Name == "" && request.Status == http.StatusCreated {
			continue // each creates another object, though its URL names none
		}
		key := what{request.Verb, request.Target(), request.Namespace + "/" + request.Name}
		recent[key] = append(recent[key], request.Time)
		for recent[key][0].Before(request.Time.Add(-repeatWindow)) {
			recent[key] = recent[key][1:]
		}
		if times := len(recent[key]); times > maxRepeats {
			return fmt.Errorf("%s %s %s was sent %d times within %s", key.verb, key.target, key.name, times, repeatWindow)
		}
	}
	return nil
}
