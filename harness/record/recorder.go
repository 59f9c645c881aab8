package record

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
)

// Recorder records an operator's requests to the API server. Install it before a client is built from the rest.Config:
//
//	config.Wrap(recorder.Wrap)
//
// The cache, client and mapper of a manager share one transport, so the Recorder sees all of their requests. The zero
// value is ready to use. A Recorder is safe for concurrent use.
type Recorder struct {
	mu       sync.Mutex
	step     string
	instance int
	requests []*Request
}

// Wrap implements transport.WrapperFunc.
func (r *Recorder) Wrap(next http.RoundTripper) http.RoundTripper {
	return &recordingTransport{recorder: r, next: next}
}

// SetStep sets Request.Step for all subsequent requests.
func (r *Recorder) SetStep(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.step = name
}

// SetInstance sets Request.Instance for all subsequent requests.
func (r *Recorder) SetInstance(number int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.instance = number
}

// Requests returns the recorded requests that match all filters, in the order in which they were sent.
func (r *Recorder) Requests(filters ...Filter) Requests {
	r.mu.Lock()
	defer r.mu.Unlock()
	var kept Requests
	for _, request := range r.requests {
		if keeps(filters, *request) {
			kept = append(kept, *request)
		}
	}
	return kept
}

// Record records a request and calls send to send it.
func (r *Recorder) Record(request *Request, send func() (*http.Response, error)) (*http.Response, error) {
	r.mu.Lock()
	request.Step, request.Instance, request.Time = r.step, r.instance, time.Now()
	r.requests = append(r.requests, request)
	r.mu.Unlock()
	response, err := send()
	message := messageOf(request, response)
	r.mu.Lock()
	defer r.mu.Unlock()
	request.Ended = time.Now()
	if response != nil {
		request.Status, request.Message = response.StatusCode, message
	}
	return response, err
}

type recordingTransport struct {
	recorder *Recorder
	next     http.RoundTripper
}

func (t *recordingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	return t.recorder.Record(Classify(request), func() (*http.Response, error) { return t.next.RoundTrip(request) })
}

// WrappedRoundTripper implements net.RoundTripperWrapper.
func (t *recordingTransport) WrappedRoundTripper() http.RoundTripper { return t.next }

var paths = &apirequest.RequestInfoFactory{
	APIPrefixes:          sets.NewString("api", "apis"),
	GrouplessAPIPrefixes: sets.NewString("api"),
}

// Classify returns a Request with the verb, resource and object of an HTTP request.
func Classify(request *http.Request) *Request {
	info, err := paths.NewRequestInfo(request)
	if err != nil || !info.IsResourceRequest {
		return &Request{Verb: strings.ToLower(request.Method), Resource: request.URL.Path}
	}
	if info.Verb == "patch" && strings.HasPrefix(request.Header.Get("Content-Type"), "application/apply-patch") {
		info.Verb = "apply"
	}
	return &Request{
		Verb:        info.Verb,
		Group:       info.APIGroup,
		Resource:    info.Resource,
		Subresource: info.Subresource,
		Namespace:   info.Namespace,
		Name:        info.Name,
	}
}
