package fault

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
)

// server is an API server in the test process. It records requests and responds with a fixed body.
type server struct {
	received []*http.Request
	code     int
	body     []byte
}

func (s *server) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	s.received = append(s.received, request)
	header := http.Header{"Etag": {"new"}}
	if json.Valid(s.body) {
		header.Set("Content-Type", "application/json")
	}
	return &http.Response{StatusCode: s.code, Header: header, Request: request, Body: io.NopCloser(bytes.NewReader(s.body))}, nil
}

func operatorOf(t *testing.T, injector *Injector, of *server) (*http.Client, *Instance) {
	t.Helper()
	config, instance := injector.NewInstance(&rest.Config{Host: "http://server", Transport: of})
	t.Cleanup(instance.End)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return client, instance
}

func TestOtherRequestsAreUnchanged(t *testing.T) {
	const protobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
	for path, accepted := range map[string]string{
		"/openapi/v2":                               protobuf,
		"/api/v1/namespaces/run/configmaps/one":     "application/json", // the injector reads the response
		"/api/v1/namespaces/run/configmaps?watch=1": "application/json",
		"/apis":    protobuf,
		"/healthz": protobuf,
	} {
		g := NewWithT(t)
		api := &server{code: http.StatusOK, body: []byte{0x0a, 0x03, 0xff}}
		client, _ := operatorOf(t, New(Scope{}), api)
		request, err := http.NewRequest(http.MethodGet, "http://server"+path, nil)
		g.Expect(err).NotTo(HaveOccurred())
		request.Header.Set("Accept", protobuf)
		request.Header.Set("Accept-Encoding", "gzip")
		request.Header.Set("If-None-Match", "old")
		response, err := client.Do(request)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(api.received[0].Header.Get("Accept")).To(Equal(accepted), path)
		if accepted == protobuf {
			g.Expect(api.received[0].Header).To(Equal(request.Header), path)
			g.Expect(response.Header).To(Equal(http.Header{"Etag": {"new"}}), path)
			g.Expect(io.ReadAll(response.Body)).To(Equal(api.body), path)
		}
	}
}

func TestCrashes(t *testing.T) {
	for of, sent := range map[Type]int{CrashBefore: 1, CrashAfter: 2, DelayedWrite: 1, LostResponse: 2} {
		g := NewWithT(t)
		api := &server{code: http.StatusCreated, body: []byte(`{"kind": "ConfigMap", "metadata": {"name": "one", "resourceVersion": "1"}}`)}
		injector := New(Scope{}, Fault{of, RequestKey{"create", "configmaps", "-", 2}})
		client, instance := operatorOf(t, injector, api)
		send := func(method string) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			request, err := http.NewRequestWithContext(ctx, method, "http://server/api/v1/namespaces/run/configmaps", bytes.NewReader([]byte("{}")))
			g.Expect(err).NotTo(HaveOccurred())
			response, err := client.Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			return err
		}
		g.Expect(send(http.MethodPost)).To(Succeed(), "the second create is affected")
		g.Expect(injector.TriggeredAt()).To(BeZero())
		g.Expect(send(http.MethodPost)).NotTo(Succeed(), of.Name())
		g.Expect(injector.TriggeredAt()).NotTo(BeZero())
		g.Expect(api.received).To(HaveLen(sent), of.Name())
		g.Expect(injector.Writes()).To(HaveLen(sent), of.Name())
		g.Expect(injector.IsPending()).To(Equal(of == DelayedWrite), of.Name())
		if of == LostResponse {
			g.Expect(instance.Crashed()).NotTo(BeClosed())
			g.Expect(send(http.MethodPost)).To(Succeed(), "only one request is affected")
			instance.End()
			g.Expect(send(http.MethodPost)).To(MatchError(errDisconnected))
			g.Expect(instance.Crashed()).NotTo(BeClosed(), "End must not count as a crash")
			continue
		}
		g.Expect(instance.Crashed()).To(BeClosed(), of.Name())
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			g.Expect(send(method)).To(MatchError(errDisconnected), of.Name())
		}
		g.Expect(api.received).To(HaveLen(sent), of.Name())
		for injector.Release() {
		}
		if of == DelayedWrite {
			g.Expect(api.received).To(HaveLen(2), "the write arrives on release, even if the operator has canceled it")
			g.Expect(io.ReadAll(api.received[1].Body)).To(BeEquivalentTo("{}"))
			g.Expect(injector.Writes()).To(HaveLen(2))
		}
		next, _ := operatorOf(t, injector, api)
		_, err := next.Get("http://server/version")
		g.Expect(err).NotTo(HaveOccurred(), "the next instance is connected")
	}
}
