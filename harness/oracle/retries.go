package oracle

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// A request may be repeated up to maxRepeats times within repeatWindow. controller-runtime's back-off of 5 ms,
// doubled each time, repeats a request 9 times within it; with client-go's RetryOnConflict, 5 attempts 10 ms apart,
// in each of these, 45 times.
const (
	maxRepeats   = 50
	repeatWindow = 2 * time.Second
)

// A back-off that grows leaves few requests to the later half of its time: of requests that are refused at least
// minRefused times in a row, for at least minSpan, faster than minInterval, at most one in laterShare. A resync is
// slower than that, and what a rollout's events add in a short time is no back-off. An operator that has restarted, and one
// that sees what the scenario's next step has changed, begins a back-off anew.
const (
	minRefused  = 20
	minSpan     = 2 * repeatWindow
	minInterval = 250 * time.Millisecond
	laterShare  = 3
)

// HotLoop is a request that was repeated in a hot loop.
type HotLoop struct {
	Verb, Target, Object string
	// Refused reports whether the request was refused each time, and the waits in between did not grow.
	Refused bool
	message string
}

// Error describes the loop.
func (l HotLoop) Error() string { return l.message }

// BoundedRetries returns a HotLoop if a request was repeated in a hot loop: the same verb for the same object, more
// often within a time than any back-off allows, or refused again and again without growing waits.
func BoundedRetries(requests record.Requests) error {
	sent, refused := map[repeated][]time.Time{}, map[backOff]record.Requests{}
	var order []backOff // of the refused ones
	for _, request := range requests {
		if request.IsEvent() || request.Name == "" && request.Status == http.StatusCreated {
			continue // each creates another object, though its URL names none
		}
		key := repeated{request.Verb, request.Target(), request.Namespace + "/" + request.Name}
		before := sent[key]
		if n := len(before); n >= maxRepeats && request.Time.Sub(before[n-maxRepeats]) <= repeatWindow {
			return HotLoop{key.verb, key.target, key.object, false, fmt.Sprintf("%s was sent %d times within %s", key, maxRepeats+1, repeatWindow)}
		}
		sent[key] = append(before, request.Time)
		series := backOff{key, request.Instance, request.Step}
		if isRefused(request) {
			order = append(order, series)
			refused[series] = append(refused[series], request)
			continue
		}
		if err := growingWaits(key, refused[series]); err != nil {
			return err
		}
		delete(refused, series)
	}
	for _, series := range order {
		if err := growingWaits(series.repeated, refused[series]); err != nil {
			return err
		}
	}
	return nil
}

// backOff are the tries of a request by one instance of the operator during one step of the scenario.
type backOff struct {
	repeated
	instance int
	step     string
}

// repeated is what requests have in common that repeat each other.
type repeated struct{ verb, target, object string }

func (r repeated) String() string { return r.verb + " " + r.target + " " + r.object }

// isRefused tells whether a request has failed for a reason that a back-off waits to pass. A conflict is not one: the
// event of what has changed brings the next try.
func isRefused(request record.Request) bool {
	return request.Answered && (request.Status == 0 || request.Status >= http.StatusBadRequest) &&
		request.Status != http.StatusNotFound && request.Status != http.StatusConflict
}

// growingWaits returns an error if a request was refused these times and the waits between them do not grow.
func growingWaits(key repeated, refused record.Requests) error {
	if len(refused) < minRefused {
		return nil
	}
	last := refused[len(refused)-1]
	span := last.Time.Sub(refused[0].Time)
	half := refused[0].Time.Add(span / 2)
	later := len(refused) - slices.IndexFunc(refused, func(request record.Request) bool { return request.Time.After(half) })
	if span < minSpan || later <= len(refused)/laterShare || span/2/time.Duration(later) > minInterval {
		return nil
	}
	loop := HotLoop{key.verb, key.target, key.object, true, fmt.Sprintf("%s was refused %d times within %s, %d of them in the later half: the back-off does not grow",
		key, len(refused), span.Round(time.Second/10), later)}
	if last.Message != "" {
		loop.message += fmt.Sprintf("\nthe last answer: %d, %s", last.Status, last.Message)
	}
	return loop
}
