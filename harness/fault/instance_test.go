package fault

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
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
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return client, instance
}

func TestOtherRequestsAreUnchanged(t *testing.T) {
	const protobuf = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;q=0.5"
	for _, path := range []string{
		"/openapi/v2", "/apis", "/healthz", "/apis/apps/v1/namespaces/run/deployments/web/scale?fieldManager=a%20b",
		"/api/v1/namespaces/run/configmaps?limit=500&continue=x%3D", "/api/v1/namespaces/run/configmaps?watch=1&allowWatchBookmarks=true",
	} {
		g := NewWithT(t)
		api := &server{code: http.StatusOK, body: []byte{0x0a, 0x03, 0xff}}
		client, _ := operatorOf(t, New(Scope{}), api)
		request, err := http.NewRequest(http.MethodGet, "http://server"+path, nil)
		g.Expect(err).NotTo(HaveOccurred())
		for _, name := range []string{"If-None-Match", "Impersonate-User", "Impersonate-Group", "X-Custom"} {
			request.Header.Set(name, "any")
		}
		request.Header.Set("Accept", protobuf)
		request.Header.Set("Accept-Encoding", "gzip")
		response, err := client.Do(request)
		g.Expect(err).NotTo(HaveOccurred())
		if strings.Contains(path, "/run/") { // the injector reads the responses
			request.Header.Del("Accept-Encoding")
		}
		g.Expect(api.received[0].Header).To(Equal(request.Header), path)
		g.Expect(api.received[0].URL).To(Equal(request.URL), path)
		g.Expect(response.Header).To(Equal(http.Header{"Etag": {"new"}}), path)
		g.Expect(io.ReadAll(response.Body)).To(Equal(api.body), path)
	}
}

func TestResponseOfServiceIsNotBuffered(t *testing.T) {
	for path, status := range map[string]int{
		"/api/v1/namespaces/run/services/web:80/proxy/events":  http.StatusOK,
		"/api/v1/namespaces/run/services/web:80/proxy/healthz": http.StatusServiceUnavailable,
		"/api/v1/namespaces/run/pods/web/log?follow=true":      http.StatusOK,
	} {
		g := NewWithT(t)
		body, line := io.Pipe()
		config, instance := New(Scope{}).NewInstance(&rest.Config{Host: "http://server", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Body: body}, nil
		})})
		t.Cleanup(instance.End)
		client, err := rest.HTTPClientFor(config)
		g.Expect(err).NotTo(HaveOccurred())
		go func() { _, _ = io.WriteString(line, "hello") }() // and the body stays open
		response, err := client.Get("http://server" + path)
		g.Expect(err).NotTo(HaveOccurred())
		got := make([]byte, len("hello"))
		_, err = io.ReadFull(response.Body, got)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(got)).To(Equal("hello"), path)
		g.Expect(response.Body.Close()).To(Succeed())
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
