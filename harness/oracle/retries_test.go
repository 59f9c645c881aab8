package oracle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/record"
)

func every(apart time.Duration, count int, like record.Request) record.Requests {
	var requests record.Requests
	for i := range count {
		request := like
		request.Time = time.Unix(1, 0).Add(time.Duration(i) * apart)
		requests = append(requests, request)
	}
	return requests
}

// backingOff returns requests with exponential backoff between them, as in controller-runtime. Each request consists of
// several attempts, as with client-go's RetryOnConflict.
func backingOff(count, attempts int, like record.Request) record.Requests {
	var requests record.Requests
	now, wait := time.Unix(1, 0), 5*time.Millisecond
	for range count {
		for range attempts {
			like.Time = now
			requests = append(requests, like)
			now = now.Add(10 * time.Millisecond)
		}
		now, wait = now.Add(wait), wait*2
	}
	return requests
}

// withResets returns requests from a client that resets its backoff after every sixth delay.
func withResets(times int, like record.Request) record.Requests {
	var requests record.Requests
	for i := range times {
		for _, request := range backingOff(6, 1, like) {
			request.Time = request.Time.Add(time.Duration(i+1) * 400 * time.Millisecond)
			requests = append(requests, request)
		}
	}
	return requests
}

// inParts repeats the requests four times. It calls label with each request and the number of the repetition.
func inParts(backOff record.Requests, label func(r *record.Request, nth int)) record.Requests {
	var requests record.Requests
	span := backOff[len(backOff)-1].Time.Sub(backOff[0].Time) + 700*time.Millisecond
	for nth := range 4 {
		for _, request := range backOff {
			request.Time = request.Time.Add(time.Duration(nth) * span)
			label(&request, nth)
			requests = append(requests, request)
		}
	}
	return requests
}

func halves(first, second int, like record.Request) record.Requests {
	const half = 2400 * time.Millisecond
	requests := every(half/time.Duration(first), first, like)
	for i := range second {
		like.Time = time.Unix(1, 0).Add(half + half*time.Duration(i+1)/time.Duration(second))
		requests = append(requests, like)
	}
	return requests
}

func TestBoundedRetriesFindsHotLoops(t *testing.T) {
	web := record.Request{Verb: "apply", Group: "apps", Resource: "deployments", Namespace: "a", Name: "web", Status: 503, Ended: time.Unix(1, 0)}
	answered, conflict := web, web
	answered.Status, conflict.Status = 200, 409
	other, read, elsewhere, event, create, refused := answered, answered, answered, web, web, web
	other.Name, read.Verb, elsewhere.Namespace = "other", "get", "b"
	event.Verb, event.Group, event.Resource, event.Name, event.Status = "create", "events.k8s.io", "events", "", 201
	create.Verb, create.Name, create.Status = "create", "", 201
	refused.Verb, refused.Name, refused.Status = "create", "", 409
	recreated, series, unanswered, broken, invalid, absent, next := web, event, web, web, web, web, web
	recreated.Status, series.Verb, series.Name, series.Status = 201, "patch", "web.1", 200
	unanswered.Ended, unanswered.Status, broken.Status, invalid.Status, absent.Status, next.Instance = time.Time{}, 0, 0, 400, 404, 1
	atLast := answered
	atLast.Time = time.Unix(100, 0)
	withMessage := invalid
	withMessage.Message = "port is taken"
	interrupted := every(160*time.Millisecond, 180, web)
	for i := 10; i < len(interrupted); i += 10 {
		interrupted[i].Status = 200
	}
	mixed := append(append(every(50*time.Millisecond, 40, answered), every(50*time.Millisecond, 40, other)...), every(50*time.Millisecond, 40, read)...)

	for name, test := range map[string]struct {
		requests record.Requests
		hot      string
	}{
		"no requests":                         {nil, ""},
		"hot loop":                            {every(time.Millisecond, 1000, web), "apply deployments.apps a/web was sent 51 times within 2s"},
		"hot loop on a slow machine":          {every(35*time.Millisecond, 1000, web), "apply deployments.apps a/web was sent 51 times within 2s"},
		"hot loop after other requests":       {append(every(time.Minute, 100, read), every(time.Millisecond, 51, web)...), "apply deployments.apps a/web"},
		"hot loop of two seconds":             {every(40*time.Millisecond, 51, answered), "apply deployments.apps a/web was sent 51 times within 2s"},
		"object that is recreated":            {every(time.Millisecond, 1000, recreated), "apply deployments.apps a/web was sent 51 times within 2s"},
		"slow loop":                           {every(50*time.Millisecond, 1000, answered), ""},
		"no growth":                           {every(160*time.Millisecond, 180, web), "apply deployments.apps a/web was rejected 180 times within 28.6s, 90 of them in the second half: the delay between retries does not increase"},
		"no growth, then success":             {append(every(160*time.Millisecond, 180, web), atLast), "apply deployments.apps a/web was rejected 180 times"},
		"no growth in a second series":        {append(every(time.Second, 3, web), every(160*time.Millisecond, 180, next)...), "apply deployments.apps a/web was rejected 180 times"},
		"no growth in four seconds":           {every(200*time.Millisecond, 21, web), "the delay between retries does not increase"},
		"no growth in less than four seconds": {every(199*time.Millisecond, 21, web), ""},
		"no growth at 4/s":                    {every(250*time.Millisecond, 21, web), "the delay between retries does not increase"},
		"no growth at 3/s":                    {every(300*time.Millisecond, 100, web), ""},
		"no growth in 20 attempts":            {halves(10, 10, web), "the delay between retries does not increase"},
		"no growth in 19 attempts":            {halves(9, 10, web), ""},
		"a third in the second half":          {halves(24, 12, web), ""},
		"more in the second half":             {halves(24, 13, web), "13 of them in the second half: the delay between retries does not increase"},
		"broken connections":                  {every(160*time.Millisecond, 180, broken), "the delay between retries does not increase"},
		"invalid request":                     {every(160*time.Millisecond, 180, invalid), "the delay between retries does not increase"},
		"response with a message":             {every(160*time.Millisecond, 180, withMessage), "the delay between retries does not increase\nthe last response: 400, port is taken"},
		"missing object":                      {every(160*time.Millisecond, 180, absent), ""},
		"no response yet":                     {every(160*time.Millisecond, 180, unanswered), ""},
		"back-off that is reset":              {append(backingOff(6, 1, web), withResets(20, web)...), "the delay between retries does not increase"},
		"events of a rollout":                 {every(80*time.Millisecond, 23, web), ""},
		"resync":                              {every(time.Second, 100, web), ""},
		"conflict":                            {every(160*time.Millisecond, 180, conflict), ""},
		"refused, then accepted":              {interrupted, ""},
		"back-offs of instances":              {inParts(backingOff(7, 3, web), func(r *record.Request, nth int) { r.Instance = nth }), ""},
		"back-offs of steps":                  {inParts(backingOff(7, 3, web), func(r *record.Request, nth int) { r.Step = fmt.Sprint(nth) }), ""},
		"restarted back-off":                  {inParts(backingOff(7, 3, web), func(*record.Request, int) {}), "the delay between retries does not increase"},
		"controller-runtime":                  {backingOff(15, 1, web), ""},
		"RetryOnConflict":                     {backingOff(15, 5, web), ""},
		"different requests":                  {mixed, ""},
		"different namespaces":                {append(every(50*time.Millisecond, 40, answered), every(50*time.Millisecond, 40, elsewhere)...), ""},
		"Events":                              {every(time.Millisecond, 1000, event), ""},
		"Event series":                        {every(time.Millisecond, 1000, series), ""},
		"new objects":                         {every(time.Millisecond, 1000, create), ""},
		"existing object":                     {every(time.Millisecond, 1000, refused), "create deployments.apps a/ was sent 51 times within 2s"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			if err := BoundedRetries(test.requests); test.hot == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(test.hot)))
				g.Expect(err).To(HaveField("Refused", strings.Contains(err.Error(), "was rejected")), "Refused is set only for rejected requests")
				g.Expect(strings.Contains(err.Error(), "last response")).To(Equal(strings.Contains(test.hot, "last response")))
			}
		})
	}
}
