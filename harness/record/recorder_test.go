package record

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

// server responds to every request after a delay. If the status is 0, it resets the connection.
type server struct {
	status int
	takes  time.Duration
}

func (s server) RoundTrip(*http.Request) (*http.Response, error) {
	time.Sleep(s.takes)
	if s.status == 0 {
		return nil, errors.New("connection reset by peer")
	}
	return &http.Response{StatusCode: s.status, Body: http.NoBody}, nil
}

func send(transport http.RoundTripper, method, path, contentType string) {
	request, err := http.NewRequest(method, "https://10.0.0.1"+path, http.NoBody)
	if err != nil {
		panic(err)
	}
	request.Header.Set("Content-Type", contentType)
	_, _ = transport.RoundTrip(request)
}

func TestClassifyRequests(t *testing.T) {
	const apply, merge = "application/apply-patch+yaml", "application/merge-patch+json"
	for _, test := range []struct {
		method, path, contentType string
		want                      Request
	}{
		{"GET", "/api/v1/namespaces/a/pods", "", Request{Verb: "list", Resource: "pods", Namespace: "a"}},
		{"GET", "/api/v1/pods?watch=true", "", Request{Verb: "watch", Resource: "pods"}},
		{"GET", "/api/v1/namespaces/a/pods/x", "", Request{Verb: "get", Resource: "pods", Namespace: "a", Name: "x"}},
		{"POST", "/apis/apps/v1/namespaces/a/deployments", "",
			Request{Verb: "create", Group: "apps", Resource: "deployments", Namespace: "a"}},
		{"PUT", "/apis/apps/v1/namespaces/a/deployments/x/status", "",
			Request{Verb: "update", Group: "apps", Resource: "deployments", Subresource: "status", Namespace: "a", Name: "x"}},
		{"PATCH", "/apis/apps/v1/namespaces/a/deployments/x", merge,
			Request{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "a", Name: "x"}},
		{"PATCH", "/apis/apps/v1/namespaces/a/deployments/x?fieldManager=m", apply,
			Request{Verb: "apply", Group: "apps", Resource: "deployments", Namespace: "a", Name: "x"}},
		{"DELETE", "/apis/apps/v1/namespaces/a/deployments/x", "",
			Request{Verb: "delete", Group: "apps", Resource: "deployments", Namespace: "a", Name: "x"}},
		{"DELETE", "/apis/apps/v1/namespaces/a/deployments", "",
			Request{Verb: "deletecollection", Group: "apps", Resource: "deployments", Namespace: "a"}},
		{"GET", "/version", "", Request{Verb: "get", Resource: "/version"}},
	} {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			var recorder Recorder
			send(recorder.Wrap(server{status: 200}), test.method, test.path, test.contentType)
			got := recorder.Requests()[0]
			test.want.Status = 200
			got.Time, got.Ended = time.Time{}, time.Time{}
			NewWithT(t).Expect(got).To(Equal(test.want))
		})
	}
}

func TestWritesExcludesEventsAndLeases(t *testing.T) {
	g := NewWithT(t)
	var recorder Recorder
	transport := recorder.Wrap(server{status: 201})
	recorder.SetStep("scale")
	recorder.SetInstance(2)
	send(transport, "POST", "/api/v1/namespaces/a/pods", "")
	send(transport, "POST", "/api/v1/namespaces/a/pods", "")
	send(transport, "POST", "/apis/events.k8s.io/v1/namespaces/a/events", "")
	send(transport, "PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/x", "")
	send(transport, "GET", "/api/v1/namespaces/a/pods", "")

	g.Expect(recorder.Requests()).To(HaveLen(5))
	g.Expect(recorder.Requests(Request.IsEvent)).To(HaveLen(1))
	g.Expect(recorder.Requests().Writes()).To(HaveLen(2))
	g.Expect(recorder.Requests()).To(HaveEach(And(HaveField("Step", "scale"), HaveField("Instance", 2))))
	g.Expect(recorder.Requests(InNamespace("b"))).To(BeEmpty())
	g.Expect(recorder.Requests().Writes().Table()).To(Equal(
		"STEP   VERB    RESOURCE  REQUESTS\n" +
			"scale  create  pods      2\n"))
}

func TestRequestWithoutResponse(t *testing.T) {
	g := NewWithT(t)
	var recorder Recorder
	send(recorder.Wrap(server{}), "GET", "/api/v1/namespaces/a/pods/x", "")
	g.Expect(recorder.Requests()[0].IsInFlight()).To(BeFalse())
	g.Expect(recorder.Requests().String()).To(MatchRegexp(`get    pods a/x unanswered`))
}

func TestRecorderIsSafeForConcurrentUse(t *testing.T) {
	var recorder Recorder
	transport := recorder.Wrap(server{status: 200})
	var senders sync.WaitGroup
	for range 8 {
		senders.Go(func() {
			for range 50 {
				send(transport, "GET", "/api/v1/pods", "")
				recorder.Requests()
			}
		})
	}
	senders.Wait()
	NewWithT(t).Expect(recorder.Requests()).To(HaveLen(400))
}

func TestWaitIdleRestartsAfterEachRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var recorder Recorder
		transport := recorder.Wrap(server{status: 200, takes: 300 * time.Millisecond})
		go func() {
			time.Sleep(900 * time.Millisecond)
			send(transport, "GET", "/api/v1/pods", "") // in flight until 1.2 s
		}()
		begin := time.Now()
		g := NewWithT(t)
		g.Expect(recorder.WaitIdle(t.Context(), time.Second)).To(Succeed())
		g.Expect(time.Since(begin)).To(Equal(2200 * time.Millisecond))
	})
}

func TestWaitIdleIgnoresWatchesAndLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var recorder Recorder
		transport := recorder.Wrap(server{status: 200})
		send(transport, "POST", "/api/v1/namespaces/a/pods", "")
		time.Sleep(time.Millisecond)
		go func() {
			time.Sleep(500 * time.Millisecond)
			send(transport, "GET", "/api/v1/pods?watch=1", "")
			send(transport, "PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/x", "")
			send(transport, "POST", "/api/v1/namespaces/other/pods", "")
		}()
		begin := time.Now()
		g := NewWithT(t)
		g.Expect(recorder.WaitIdle(t.Context(), time.Second, InNamespace("a"))).To(Succeed())
		g.Expect(time.Since(begin)).To(Equal(time.Second))
	})
}

func TestWaitIdleErrorListsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var recorder Recorder
		transport := recorder.Wrap(server{status: 200})
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		go func() {
			for range 4 {
				time.Sleep(700 * time.Millisecond)
				send(transport, "PUT", "/api/v1/namespaces/a/pods/x/status", "")
			}
		}()
		err := recorder.WaitIdle(ctx, time.Second)
		g := NewWithT(t)
		g.Expect(err).To(MatchError(context.DeadlineExceeded))
		g.Expect(err).To(MatchError(And(ContainSubstring("4 requests since"), ContainSubstring("update pods/status a/x 200"))))
	})
}
