// Package webhook has the API server call the webhooks of operators of which many run at once, each for the objects of
// one namespace. In a cluster a webhook's Service leads to the one operator there is; here the URL leads to a Router,
// which knows the operator of the object's namespace:
//
//	router, err := webhook.NewRouter()
//	clientConfig.URL, clientConfig.CABundle = router.URL("manager", 9443, "/validate"), router.CA
//	router.Expect(ctx, namespace)              // requests wait for its operator until ctx ends
//	router.Attach(namespace, "manager", dial)  // where it is
//
// An operator may be several processes, such as one for its webhooks alone. Each is named by its Deployment, in the URL and
// when it is attached, and a request goes to the one that serves it.
//
// What differs from a cluster: a request waits for an operator that is just starting, as long as the API server waits
// for the answer, where a Service without endpoints would fail at once. So a user need not repeat what was done while an
// operator restarts. Objects of other namespaces, and those without one, are admitted as they are.
//
// An API server keeps the objects of all namespaces in one cache, and does without it as long as one of them cannot be
// converted. So a conversion is asked of another namespace's operator, as of a second replica, while that of the object's
// namespace does not answer. What no operator converts fails only when it is written. When it is read, it gets the other
// apiVersion and is else as it is stored, and Refused is told.
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
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/operator-assay/assay/harness/pod"
)

// pollInterval is how often it is tried to connect to an operator: nothing tells when it begins to listen.
const pollInterval = 20 * time.Millisecond

// defaultTimeout is how long an API server waits for an admission webhook, if its configuration says nothing.
const defaultTimeout = 10 * time.Second

const (
	// maxReview is more than an API server sends.
	maxReview = 16 << 20
	// maxConnections is how many connections to an operator are open at once. They are few, because a container can be
	// connected to only so many times.
	maxConnections = 8
)

// Router is a server that passes reviews on.
type Router struct {
	// CA is the certificate with which an API server trusts the router, in PEM.
	CA []byte
	// Alone has the one operator that is expected be asked about all objects, whatever their namespace, and those without
	// one. Set it before the first request.
	Alone bool
	// Refused is told why a stored object was not converted, the first time that happens. Set it before the first request.
	Refused func(why string)

	server        *http.Server
	address       string
	answerTimeout time.Duration // of a conversion, until another operator is asked
	refused       sync.Once

	mu        sync.Mutex
	operators map[string]operator // by namespace
	expected  int                 // how many were so far
}

// operator is what is expected in a namespace: its managers, and its number.
type operator struct {
	managers
	expected int
}

// managers are the processes of an operator that have started, by their Deployments.
type managers map[string]*http.Transport

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
	r := &Router{CA: certificates.CA, address: listener.Addr().String(), answerTimeout: answerTimeout, Refused: func(string) {}, operators: map[string]operator{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

// Close stops the router.
func (r *Router) Close() error { return r.server.Close() }

// URL is where an API server finds the webhook that an operator's manager, named by its Deployment, serves on a port.
func (r *Router) URL(manager string, port int32, path string) string {
	return fmt.Sprintf("https://%s/%s/%d%s", r.address, manager, port, path)
}

// ConversionURL is where an API server finds the conversion webhook of a kind that is stored in a version such as v1.
func (r *Router) ConversionURL(manager string, port int32, path, stored string) string {
	return fmt.Sprintf("https://%s/%s/%d/%s%s", r.address, manager, port, stored, path)
}

// Expect has the requests for a namespace's objects wait for an operator until ctx ends.
func (r *Router) Expect(ctx context.Context, namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expected++
	mine := r.expected
	r.operators[namespace] = operator{managers{}, mine}
	context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.operators[namespace].expected == mine { // else another one is expected by now
			delete(r.operators, namespace)
		}
	})
}

// Attach makes a process, by a way to its ports, the manager of a namespace that is expected. It replaces the one before.
func (r *Router) Attach(namespace, manager string, dial pod.Dial) {
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // its certificate is made for the run, or by itself
		MaxConnsPerHost:     maxConnections,
		MaxIdleConnsPerHost: maxConnections,
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
	if operator, expected := r.operators[namespace]; expected {
		operator.managers[manager] = transport
	}
}

// ServeHTTP answers a review by the answer of an operator.
func (r *Router) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxReview))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	admission, conversion := &admissionv1.AdmissionReview{}, &apiextensionsv1.ConversionReview{}
	switch {
	case json.Unmarshal(body, admission) == nil && admission.Kind == "AdmissionReview" && admission.Request != nil:
		r.admit(w, request, admission, body)
	case json.Unmarshal(body, conversion) == nil && conversion.Kind == "ConversionReview" && conversion.Request != nil:
		r.convert(w, request, conversion)
	default:
		http.Error(w, "this is no review", http.StatusBadRequest)
	}
}

// admit answers by the operator of the object's namespace; if none is expected, it admits.
func (r *Router) admit(w http.ResponseWriter, request *http.Request, review *admissionv1.AdmissionReview, body []byte) {
	ctx, cancel := context.WithTimeout(request.Context(), admissionTimeout(request))
	defer cancel()
	response, err := r.ask(request.WithContext(ctx), review.Request.Namespace, body)
	switch {
	case ctx.Err() != nil && err != nil:
		http.Error(w, fmt.Sprintf("%s within %s", err, admissionTimeout(request)), http.StatusBadGateway) // of a 504 it would not pass the text on
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
	case response == nil:
		reply(w, admissionv1.AdmissionReview{
			TypeMeta: review.TypeMeta,
			Response: &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true},
		})
	default:
		defer response.Body.Close()
		w.Header().Set("Content-Type", response.Header.Get("Content-Type"))
		w.WriteHeader(response.StatusCode)
		_, _ = io.Copy(w, response.Body) // the API server reads a broken answer as one
	}
}

// admissionTimeout is how long an operator may take to admit: less than the API server waits, which could not tell why.
func admissionTimeout(request *http.Request) time.Duration {
	limit, err := time.ParseDuration(request.URL.Query().Get("timeout"))
	if err != nil {
		limit = defaultTimeout
	}
	return limit - min(limit/10, 500*time.Millisecond)
}

func reply(w http.ResponseWriter, review any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

// manager returns that of a namespace's operator, nil if it has not started, and whether the operator is expected.
func (r *Router) manager(namespace, name string) (_ *http.Transport, expected bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	operator, expected := r.operators[namespace]
	if r.Alone {
		for _, operator = range r.operators {
			expected = true
		}
	}
	return operator.managers[name], expected
}

// ask waits for the manager that a request is for and returns its answer; nil if no operator is expected in the namespace.
// When the request ends, the error says what the manager has not done.
func (r *Router) ask(request *http.Request, namespace string, body []byte) (*http.Response, error) {
	to, err := parse(request.URL.Path)
	if err != nil {
		return nil, err
	}
	waits := fmt.Errorf("Deployment %s has not started", to.manager)
	for {
		manager, expected := r.manager(namespace, to.manager)
		if !expected {
			return nil, nil
		}
		if manager != nil {
			response, err := post(request.Context(), manager, to.url(), body)
			waits = fmt.Errorf("Deployment %s has not answered on port %s", to.manager, to.port)
			over := request.Context().Err() != nil
			if err == nil || !over && !isNotReady(err) {
				return response, err
			}
		}
		if pause(request.Context()) != nil {
			return nil, waits
		}
	}
}

// isNotReady tells whether a request has reached a process that is about to serve: it does not listen yet, or has no
// certificate yet and refuses the handshake. In a cluster its readiness probe would keep requests from it.
func isNotReady(err error) bool {
	handshake, _ := errors.AsType[*net.OpError](err)
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, net.ErrClosed) || handshake != nil && handshake.Op == "remote error"
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(pollInterval):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endpoint is where a manager answers.
type endpoint struct{ manager, port, path string }

// parse takes a path apart that Router.URL made: the manager and the port come first.
func parse(requested string) (endpoint, error) {
	parts := strings.SplitN(requested, "/", 4) // the first is empty
	if len(parts) < 4 {
		return endpoint{}, fmt.Errorf("%s names no manager, port and path", requested)
	}
	if _, err := strconv.ParseUint(parts[2], 10, 16); err != nil {
		return endpoint{}, fmt.Errorf("%s names no port", requested)
	}
	return endpoint{parts[1], parts[2], parts[3]}, nil
}

func (e endpoint) url() string { return "https://127.0.0.1:" + e.port + "/" + e.path }

func post(ctx context.Context, manager *http.Transport, url string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	return manager.RoundTrip(request)
}
