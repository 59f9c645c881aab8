package oracle

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/operator-assay/assay/harness/record"
)

// A request may be sent up to maxRepeats times within repeatWindow. The default backoff of controller-runtime starts at
// 5 ms and doubles, so a request is sent 9 times in this window, or 45 times if each attempt uses client-go's
// RetryOnConflict with 5 attempts.
const (
	maxRepeats   = 50
	repeatWindow = 2 * time.Second
)

// A hot loop is a series of at least minRefused consecutive rejected attempts that lasts at least minSpan. More than
// 1/laterShare of the attempts are in the second half, at an average interval of at most minInterval. With exponential
// backoff, only a few attempts are in the second half. Periodic resyncs have longer intervals, and a rollout triggers
// reconciles for less than minSpan.
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

// backOff identifies a series of attempts at the same request. The instance and the step are part of the key, because
// the backoff may restart when they change.
type backOff struct {
	repeated
	instance int
	step     string
}

type repeated struct{ verb, target, object string }

func (r repeated) String() string { return r.verb + " " + r.target + " " + r.object }

// isRefused reports whether a request failed with an error that requires a backoff. It returns false for a 404, which
// is a normal result of a read, and for a conflict, because the conflicting change triggers the next attempt.
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
	loop := HotLoop{key.verb, key.target, key.object, true, fmt.Sprintf("%s was rejected %d times within %s, %d of them in the second half: the delay between retries does not increase",
		key, len(refused), span.Round(time.Second/10), later)}
	if last.Message != "" {
		loop.message += fmt.Sprintf("\nthe last response: %d, %s", last.Status, last.Message)
	}
	return loop
}
