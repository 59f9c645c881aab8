package oracle

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// A request may be repeated up to maxRepeats times within repeatWindow. The default backoff of controller-runtime,
// which starts at 5 ms and doubles, repeats a request 9 times in this window. If each attempt uses client-go's
// RetryOnConflict with 5 attempts, the total is 45.
const (
	maxRepeats   = 50
	repeatWindow = 2 * time.Second
)

// A hot loop consists of at least minRefused consecutive rejected attempts over at least minSpan. More than
// 1/laterShare of them are in the second half of that time, whereas exponential backoff leaves only a few attempts
// there. The average interval in the second half is at most minInterval. Periodic resyncs have longer intervals, and a
// rollout triggers reconciles for less than minSpan.
const (
	minRefused  = 20
	minSpan     = 2 * repeatWindow
	minInterval = 250 * time.Millisecond
	laterShare  = 3
)

// HotLoop is the error for a request that was repeated too often.
type HotLoop struct {
	Verb, Target, Object string
	// Refused is true if all attempts were rejected and the delays between them did not increase. It is false if the
	// request was sent too often, regardless of the responses.
	Refused bool
	message string
}

func (l HotLoop) Error() string { return l.message }

// BoundedRetries returns a HotLoop if the same request was repeated more often than any backoff allows, or was
// rejected repeatedly without an increasing delay.
func BoundedRetries(requests record.Requests) error {
	sent, refused := map[repeated][]time.Time{}, map[backOff]record.Requests{}
	var order []backOff // keys of refused, in order
	for _, request := range requests {
		if request.IsEvent() || request.Name == "" && request.Status == http.StatusCreated {
			continue // every create with a generated name creates a different object
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

// backOff groups attempts at the same request by operator instance and scenario step, because the backoff may restart
// between them.
type backOff struct {
	repeated
	instance int
	step     string
}

type repeated struct{ verb, target, object string }

func (r repeated) String() string { return r.verb + " " + r.target + " " + r.object }

// isRefused reports whether a request failed with an error that requires a backoff. A 404 is a normal result of a read.
// After a conflict, the event for the conflicting change triggers the next attempt.
func isRefused(request record.Request) bool {
	return !request.IsInFlight() && (request.Status == 0 || request.Status >= http.StatusBadRequest) &&
		request.Status != http.StatusNotFound && request.Status != http.StatusConflict
}

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
	loop := HotLoop{key.verb, key.target, key.object, true, fmt.Sprintf("%s was rejected %d times within %s, %d of them in the later half: the back-off does not grow",
		key, len(refused), span.Round(time.Second/10), later)}
	if last.Message != "" {
		loop.message += fmt.Sprintf("\nthe last response: %d, %s", last.Status, last.Message)
	}
	return loop
}
