package record

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// Recorder records every request that an operator sends to the API server. Give its Wrap to the operator's
// rest.Config before any client is built from it:
//
//	config.Wrap(recorder.Wrap)
//
// A manager's cache, client and mapper share one transport, so it sees all of their requests. The zero value is ready
// for use, from any number of goroutines.
type Recorder struct {
	mu       sync.Mutex
	step     string
	instance int
	requests []*Request
	changed  chan struct{} // closed and replaced when a request is sent or answered
}

// Wrap is a transport.WrapperFunc.
func (r *Recorder) Wrap(next http.RoundTripper) http.RoundTripper {
	return &recordingTransport{recorder: r, next: next}
}

// SetStep labels the requests that are sent from now on.
func (r *Recorder) SetStep(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.step = name
}

// SetInstance labels the requests that are sent from now on.
func (r *Recorder) SetInstance(number int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.instance = number
}

// Requests returns those that all filters match, in the order in which they were sent. A request that is not answered
// yet has Status 0.
func (r *Recorder) Requests(filters ...Filter) Requests {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept(filters)
}

func (r *Recorder) sent(request *Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	request.Step, request.Instance = r.step, r.instance
	request.Time = time.Now()
	r.requests = append(r.requests, request)
	r.notifyChanged()
}

func (r *Recorder) answered(request *Request, response *http.Response, message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	request.Duration = time.Since(request.Time)
	request.Answered = true
	if response != nil {
		request.Status, request.Message = response.StatusCode, message
	}
	r.notifyChanged()
}

// notifyChanged wakes those who wait for a change. The caller holds the lock.
func (r *Recorder) notifyChanged() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// watch returns the requests that all filters match, and a channel that is closed at the next change.
func (r *Recorder) watch(filters []Filter) (Requests, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return r.kept(filters), r.changed
}

// kept returns copies of the requests that all filters match. The caller holds the lock.
func (r *Recorder) kept(filters []Filter) Requests {
	var kept Requests
	for _, request := range r.requests {
		if keeps(filters, *request) {
			kept = append(kept, *request)
		}
	}
	return kept
}

// recordingTransport is the transport that Wrap returns.
type recordingTransport struct {
	recorder *Recorder
	next     http.RoundTripper
}

func (t *recordingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	noted := Classify(request)
	t.recorder.sent(noted)
	response, err := t.next.RoundTrip(request)
	t.recorder.answered(noted, response, messageOf(response))
	return response, err
}

// WrappedRoundTripper lets client-go find the transport below.
func (t *recordingTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

// paths parses a request's URL as the API server does.
var paths = &apirequest.RequestInfoFactory{
	APIPrefixes:          sets.NewString("api", "apis"),
	GrouplessAPIPrefixes: sets.NewString("api"),
}

// Classify returns what a request is about, in the API server's terms.
func Classify(request *http.Request) *Request {
	info, err := paths.NewRequestInfo(request)
	if err != nil || !info.IsResourceRequest {
		return &Request{Verb: strings.ToLower(request.Method), Path: request.URL.Path}
	}
	if info.Verb == "patch" && strings.HasPrefix(request.Header.Get("Content-Type"), "application/apply-patch") {
		info.Verb = "apply"
	}
	return &Request{
		Verb:        info.Verb,
		Group:       info.APIGroup,
		Version:     info.APIVersion,
		Resource:    info.Resource,
		Subresource: info.Subresource,
		Namespace:   info.Namespace,
		Name:        info.Name,
		Path:        request.URL.Path,
	}
}
