// Package webhook routes webhook requests when many instances of an operator run against one API server. Each instance
// handles the objects in one namespace. In a cluster, a webhook's Service selects a single operator. Here, the
// webhook's URL points to a Router, which forwards each request to the operator in the object's namespace:
//
//	router, err := webhook.NewRouter()
//	clientConfig.URL, clientConfig.CABundle = router.URL("manager", 9443, "/validate"), router.CA
//	router.Expect(ctx, namespace)              // requests wait for the operator until ctx is done
//	router.Attach(namespace, "manager", dial)  // requests are sent to this process
//
// An operator can consist of several processes, for example if its webhooks are served by a separate Deployment. Each
// process is identified by its Deployment name, which is part of the URL and an argument to Attach.
//
// The behavior differs from a cluster in two ways. A request waits while the operator is starting, up to the webhook
// timeout, whereas a Service without endpoints fails immediately. Users therefore do not need to retry while an
// operator restarts. Objects that are cluster-scoped or in other namespaces are admitted without calling a webhook.
//
// The API server has a single watch cache for the objects in all namespaces, and cannot initialize it if one object
// fails to convert. So if the operator in the object's namespace does not respond, the Router sends the conversion to
// an operator in another namespace, as if that were a second replica. If no operator converts the object, only writes
// fail. Reads return the stored object with the requested apiVersion, and Refused is called.
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
	"sync"
	"syscall"
	"time"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/operator-assay/assay/harness/pod"
)

// pollInterval is how often the Router tries to connect to an operator that is starting. The Router must poll, because
// it is not notified when a process starts listening.
const pollInterval = 20 * time.Millisecond

// defaultTimeout is the API server's default timeout for admission webhooks.
const defaultTimeout = 10 * time.Second

// maxConnections limits the open connections to a process, because the total number per container is limited.
const maxConnections = 8

// Router is a server that forwards AdmissionReviews and ConversionReviews to operators.
type Router struct {
	// CA is the CA bundle for the webhook configurations, PEM encoded.
	CA []byte
	// SingleOperator sends all reviews to the only operator, including reviews of objects that are cluster-scoped or in
	// other namespaces. It must be set before the first request.
	SingleOperator bool
	// Refused is called at most once, with the reason, if a stored object cannot be converted. It must be
	// set before the first request.
	Refused func(why string)

	http.Handler  // forwards a review to an operator and returns the response
	server        *http.Server
	address       string
	answerTimeout time.Duration // for a conversion by one operator
	refused       sync.Once

	mu        sync.Mutex
	operators map[string]*operator // by namespace
}

type operator struct {
	managers map[string]*http.Transport // the processes that have started, by Deployment name
}

// NewRouter starts a Router on the loopback interface. The API server must run on the same machine.
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
	reviews := http.NewServeMux()
	r := &Router{CA: certificates.CA, Handler: reviews, address: listener.Addr().String(), answerTimeout: answerTimeout, Refused: func(string) {}, operators: map[string]*operator{}}
	reviews.HandleFunc("/admit/{manager}/{port}/{path...}", r.admit)
	reviews.HandleFunc("/convert/{stored}/{manager}/{port}/{path...}", r.convert)
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

// Close stops the router.
func (r *Router) Close() error { return r.server.Close() }

// URL returns the URL of the webhook that a manager, named by its Deployment, serves on the given port and path.
func (r *Router) URL(manager string, port int32, path string) string {
	return fmt.Sprintf("https://%s/admit/%s/%d%s", r.address, manager, port, path)
}

// ConversionURL returns the URL of the conversion webhook for a kind with the given storage version, such as v1.
func (r *Router) ConversionURL(manager string, port int32, path, stored string) string {
	return fmt.Sprintf("https://%s/convert/%s/%s/%d%s", r.address, stored, manager, port, path)
}

// Expect registers an operator for the namespace, even if it has not started yet. Until ctx is done, requests for
// objects in the namespace wait for the operator.
func (r *Router) Expect(ctx context.Context, namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	expected := &operator{managers: map[string]*http.Transport{}}
	r.operators[namespace] = expected
	context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.operators[namespace] == expected { // otherwise, a later call has replaced this operator
			delete(r.operators, namespace)
		}
	})
}

// Attach registers a process as a manager in the namespace, replacing the previous one. Expect must be called first.
func (r *Router) Attach(namespace, manager string, dial pod.Dial) {
	transport := &http.Transport{
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the certificate is self-signed
		MaxConnsPerHost:     maxConnections,
		MaxIdleConnsPerHost: maxConnections,
		DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			_, port, _ := net.SplitHostPort(address) // the Transport always adds a port
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

// admit forwards a review to the operator in the object's namespace. It admits the object if no operator is expected.
func (r *Router) admit(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	var review admissionv1.AdmissionReview
	if err != nil || json.Unmarshal(body, &review) != nil || review.Request == nil {
		http.Error(w, "the request is not an AdmissionReview", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(request.Context(), admissionTimeout(request))
	defer cancel()
	response, err := r.ask(request.WithContext(ctx), review.Request.Namespace, body)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway) // the API server does not include the text of a 504 in its error
	case response == nil:
		reply(w, admissionv1.AdmissionReview{
			TypeMeta: review.TypeMeta,
			Response: &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true},
		})
	default:
		defer response.Body.Close()
		w.Header().Set("Content-Type", response.Header.Get("Content-Type"))
		w.WriteHeader(response.StatusCode)
		_, _ = io.Copy(w, response.Body) // the API server detects an incomplete response
	}
}

// admissionTimeout returns how long to wait for an operator. This is shorter than the API server's timeout, because the
// API server's error would not name the operator.
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

// managers returns connections to the processes of the named manager. own is the process in the given namespace, or nil
// if it has not started; others are in other namespaces. isExpected is true if an operator is expected in the
// namespace. A single operator belongs to every namespace.
func (r *Router) managers(namespace, name string) (own *http.Transport, others []*http.Transport, isExpected bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for home, operator := range r.operators {
		manager := operator.managers[name]
		switch {
		case home == namespace || r.SingleOperator:
			own, isExpected = manager, true
		case manager != nil:
			others = append(others, manager)
		}
	}
	return own, others, isExpected
}

// ask waits for the manager that serves the webhook and returns its response. It returns nil if no operator is expected
// in the namespace. If the request's context is done, the error explains what ask was waiting for.
func (r *Router) ask(request *http.Request, namespace string, body []byte) (*http.Response, error) {
	ctx, name := request.Context(), request.PathValue("manager")
	waits := "has not started"
	for {
		manager, _, isExpected := r.managers(namespace, name)
		if !isExpected {
			return nil, nil
		}
		if manager != nil {
			waits = "has not responded on port " + request.PathValue("port")
			response, err := post(ctx, manager, request, body)
			if err == nil || ctx.Err() == nil && !isNotReady(err) {
				return response, err
			}
		}
		if pause(ctx) != nil {
			return nil, fmt.Errorf("Deployment %s %s within %s", name, waits, admissionTimeout(request))
		}
	}
}

// isNotReady reports whether the process has crashed, which closes its connections, or is still starting: it is not
// listening yet, or rejects the TLS handshake because it has no certificate yet. In a cluster, a readiness probe would
// prevent requests to a process that is starting.
func isNotReady(err error) bool {
	handshake, _ := errors.AsType[*net.OpError](err)
	isClosed := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, net.ErrClosed)
	return isClosed || errors.Is(err, syscall.ECONNREFUSED) || handshake != nil && handshake.Op == "remote error"
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(pollInterval):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func post(ctx context.Context, manager *http.Transport, request *http.Request, body []byte) (*http.Response, error) {
	url := "https://127.0.0.1:" + request.PathValue("port") + "/" + request.PathValue("path")
	forwarded, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	forwarded.Header.Set("Content-Type", "application/json")
	return manager.RoundTrip(forwarded)
}
