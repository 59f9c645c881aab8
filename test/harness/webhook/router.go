// Package webhook has the API server call the admission webhooks of operators of which many run at once, each for the
// objects of one namespace. In a cluster a webhook's Service leads to the one operator there is; here the URL leads to
// a Router, which knows the operator of the object's namespace:
//
//	router, err := webhook.NewRouter()
//	clientConfig.URL, clientConfig.CABundle = router.URL(9443, "/validate"), router.CA
//	router.Expect(ctx, namespace)        // requests wait for its operator until ctx ends
//	router.Attach(namespace, dial)       // where it is
//
// What differs from a cluster: a request waits for an operator that is just starting, as long as the API server waits
// for the answer, where a Service without endpoints would fail at once. So a user need not repeat what was done while an
// operator restarts. Objects of other namespaces, and those without one, are admitted as they are.
package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operator-assay/assay/test/harness/pod"
)

// pollInterval is how often it is tried to connect to an operator: nothing tells when it begins to listen.
const pollInterval = 20 * time.Millisecond

// maxReview is more than an API server sends.
const maxReview = 16 << 20

// Router is a server that passes admission reviews on.
type Router struct {
	// CA is the certificate with which an API server trusts the router, in PEM.
	CA []byte

	server  *http.Server
	address string

	mu        sync.Mutex
	operators map[string]*http.Transport // by namespace; nil for one that has not started
}

// NewRouter starts a router on a port of the loopback interface, which the API server must share.
func NewRouter() (*Router, error) {
	certificates, err := pod.NewCertificates("127.0.0.1")
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificates.Certificate, certificates.Key)
	if err != nil {
		return nil, err
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	if err != nil {
		return nil, err
	}
	r := &Router{CA: certificates.CA, address: listener.Addr().String(), operators: map[string]*http.Transport{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

// Close stops the router.
func (r *Router) Close() error { return r.server.Close() }

// URL is where an API server finds the webhook that an operator serves on a port.
func (r *Router) URL(port int32, path string) string {
	return fmt.Sprintf("https://%s/%d%s", r.address, port, path)
}

// Expect has the requests for a namespace's objects wait for an operator until ctx ends.
func (r *Router) Expect(ctx context.Context, namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.operators[namespace] = nil
	context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.operators, namespace)
	})
}

// Attach makes an operator, by a way to its ports, that of a namespace that is expected. It replaces the one before.
func (r *Router) Attach(namespace string, dial pod.Dial) {
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // its certificate is made for the run, or by itself
		DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			number, err := strconv.Atoi(port)
			if err != nil {
				return nil, err
			}
			return dial(number)
		},
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, expected := r.operators[namespace]; expected {
		r.operators[namespace] = transport
	}
}

// ServeHTTP answers an admission review by the answer of the operator.
func (r *Router) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxReview))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	review := &admissionv1.AdmissionReview{}
	if err := json.Unmarshal(body, review); err != nil || review.Request == nil {
		http.Error(w, "this is no admission review", http.StatusBadRequest)
		return
	}
	response, err := r.ask(request, review.Request.Namespace, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if response == nil {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(admissionv1.AdmissionReview{
			TypeMeta: metav1.TypeMeta{APIVersion: review.APIVersion, Kind: review.Kind},
			Response: &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true},
		})
		return
	}
	defer response.Body.Close()
	w.Header().Set("Content-Type", response.Header.Get("Content-Type"))
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body) // the API server reads a broken answer as one
}

// ask waits for a namespace's operator and returns its answer; nil if none is expected.
func (r *Router) ask(request *http.Request, namespace string, body []byte) (*http.Response, error) {
	port, path, err := target(request)
	if err != nil {
		return nil, err
	}
	for {
		r.mu.Lock()
		operator, expected := r.operators[namespace]
		r.mu.Unlock()
		if !expected {
			return nil, nil
		}
		if operator != nil {
			response, err := post(request.Context(), operator, "https://127.0.0.1:"+port+path, body)
			if !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, net.ErrClosed) {
				return response, err
			}
		}
		select {
		case <-time.After(pollInterval):
		case <-request.Context().Done():
			return nil, request.Context().Err()
		}
	}
}

// target splits the path of a URL into the operator's port and path.
func target(request *http.Request) (port, path string, err error) {
	port, path, _ = strings.Cut(strings.TrimPrefix(request.URL.Path, "/"), "/")
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", "", fmt.Errorf("%s names no port", request.URL.Path)
	}
	return port, "/" + path, nil
}

func post(ctx context.Context, operator *http.Transport, url string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	return operator.RoundTrip(request)
}
