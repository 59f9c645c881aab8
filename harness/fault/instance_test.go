package fault

import (
	"bytes"
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
