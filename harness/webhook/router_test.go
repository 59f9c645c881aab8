package webhook

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/pod"
)

const (
	// timeout is generous because the machine may be overloaded.
	timeout = 30 * time.Second
	port    = 9443
	manager = "manager"
)

// TestMain makes this test binary act as the operator if ASSAY_WEBHOOK_TEST is set.
func TestMain(m *testing.M) {
	if name := os.Getenv("ASSAY_WEBHOOK_TEST"); name != "" {
		if err := operate(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	SetDefaultEventuallyTimeout(timeout)
	code := m.Run()
	if shared.plane != nil {
		if err := shared.plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

var shared struct {
	once  sync.Once
	plane *controlplane.ControlPlane
	err   error
}

func controlPlane(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	shared.once.Do(func() {
		known := runtime.NewScheme()
		if shared.err = errors.Join(apiextensionsv1.AddToScheme(known), scheme.AddToScheme(known)); shared.err == nil {
			shared.plane, shared.err = controlplane.Start(context.Background(), controlplane.Options{Scheme: known})
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.plane
}

func operate(name string) error {
	made, err := pod.NewCertificates("localhost")
	if err != nil {
		return err
	}
	pair, err := tls.X509KeyPair(made.Certificate, made.Key)
	if err != nil {
		return err
	}
	server := &http.Server{
		Addr: fmt.Sprintf(":%d", port), ReadHeaderTimeout: time.Second,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			var review admissionv1.AdmissionReview
			if err := json.NewDecoder(request.Body).Decode(&review); err != nil || request.URL.Path != "/label/it" {
				http.Error(w, "unexpected request", http.StatusBadRequest)
				return
			}
			patchType := admissionv1.PatchTypeJSONPatch
			review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true, PatchType: &patchType,
				Patch: fmt.Appendf(nil, `[{"op": "add", "path": "/metadata/labels", "value": {"admitted-by": %q}}]`, name)}
			_ = json.NewEncoder(w).Encode(review)
		}),
	}
	return server.ListenAndServeTLS("", "")
}

func start(t *testing.T, router *Router, namespace, manager, name string) (kill func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	kill = func() {
		cancel()
		<-ended
	}
	t.Cleanup(kill)
	container := pod.Container{Path: os.Args[0], Env: []string{"ASSAY_WEBHOOK_TEST=" + name},
		Reach: func(dial pod.Dial) { router.Attach(namespace, manager, dial) }}
	go func() {
		defer close(ended)
		var log strings.Builder
		if err := pod.Run(ctx, container, func(net.Listener) (func(), error) { return func() {}, nil }, &log); err != nil {
			t.Errorf("%v: %s", err, log.String())
		}
	}()
	return kill
}

// TestEachNamespaceHasItsOperator runs two operators that listen on the same port. One of them has a second manager.
func TestEachNamespaceHasItsOperator(t *testing.T) {
	if err := pod.Unavailable(); err != nil {
		t.Skip(err)
	}
	g, ctx := NewWithT(t), t.Context()
	plane := controlPlane(t)
	router := newRouter(t)
	labels := func(resource, url string) admissionregistrationv1.MutatingWebhook {
		return admissionregistrationv1.MutatingWebhook{
			Name:         resource + ".label.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: router.CA},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{resource}},
			}},
			SideEffects: new(admissionregistrationv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			TimeoutSeconds: new(int32(timeout.Seconds())), // the maximum
		}
	}
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "label"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{
			labels("secrets", router.URL(manager, port, "/label/it")), labels("services", router.URL("webhook", port, "/label/it")),
		},
	}
	g.Expect(plane.Client.Create(ctx, configuration)).To(Succeed())
	t.Cleanup(func() { g.Expect(plane.Client.Delete(context.Background(), configuration)).To(Succeed()) })
	newNamespace := func() string {
		namespace, err := plane.CreateNamespace(ctx, "run")
		g.Expect(err).NotTo(HaveOccurred())
		return namespace
	}
	admittedBy := func(namespace string) (string, error) {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "any-"}}
		err := plane.Client.Create(ctx, secret)
		return secret.Labels["admitted-by"], err
	}
	serviceAdmittedBy := func(namespace string) (string, error) {
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "any-"}, Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}}
		err := plane.Client.Create(ctx, service)
		return service.Labels["admitted-by"], err
	}

	one, two, other := newNamespace(), newNamespace(), newNamespace()
	run, end := context.WithCancel(ctx)
	router.Expect(run, one)
	router.Expect(ctx, two)
	start(t, router, one, manager, "first")
	start(t, router, two, "webhook", "second-webhook")
	kill := start(t, router, two, manager, "second")
	g.Eventually(func() (string, error) { return admittedBy(one) }).Should(Equal("first"), "the API server does not use a new configuration immediately")
	g.Expect(admittedBy(two)).To(Equal("second"))
	g.Expect(admittedBy(other)).To(BeEmpty(), "no operator is expected in this namespace")

	kill()
	admitted := make(chan string)
	go func() {
		by, err := admittedBy(two)
		admitted <- fmt.Sprint(by, " ", err)
	}()
	g.Consistently(admitted).WithTimeout(5*pollInterval).ShouldNot(Receive(), "the request waits until the operator has restarted")
	g.Expect(serviceAdmittedBy(two)).To(Equal("second-webhook"), "the second manager is not affected by the restart")
	start(t, router, two, manager, "third")
	g.Eventually(admitted).Should(Receive(Equal("third <nil>")))

	end()
	g.Eventually(func() (string, error) { return admittedBy(one) }).Should(BeEmpty(), "no operator is expected after the run has ended")
}

// TestTimeoutErrorNamesManager expects a response before the API server's timeout, because the API server's error would
// name the router instead of the manager.
func TestTimeoutErrorNamesManager(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = silent.Close() })
	for _, test := range []struct {
		want string
		dial pod.Dial
	}{
		{"Deployment manager has not started within 180ms", nil},
		{"Deployment manager has not responded on port 9443 within 180ms", func(int) (net.Conn, error) { return nil, syscall.ECONNREFUSED }},
		{"Deployment manager has not responded on port 9443 within 180ms", func(int) (net.Conn, error) { return net.Dial("tcp", silent.Addr().String()) }},
	} {
		g, router := NewWithT(t), newRouter(t)
		router.Expect(t.Context(), "run")
		if test.dial != nil {
			router.Attach("run", manager, test.dial)
		}
		response, err := insecure.Post(router.URL(manager, port, "/validate")+"?timeout=200ms", "application/json", strings.NewReader(`{"kind": "AdmissionReview", "request": {"namespace": "run"}}`))
		g.Expect(err).NotTo(HaveOccurred())
		text, err := io.ReadAll(response.Body)
		g.Expect(err).NotTo(HaveOccurred())
		_ = response.Body.Close()
		g.Expect(string(text)).To(HavePrefix(test.want))
		g.Expect(response.StatusCode).To(Equal(http.StatusBadGateway))
	}
}

func TestReviewWaitsForCertificate(t *testing.T) {
	g := NewWithT(t)
	made, err := pod.NewCertificates("localhost")
	g.Expect(err).NotTo(HaveOccurred())
	pair, err := tls.X509KeyPair(made.Certificate, made.Key)
	g.Expect(err).NotTo(HaveOccurred())
	var handshakes atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "answered") }))
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if handshakes.Add(1) < 3 {
			return nil, errors.New("no certificate yet")
		}
		return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}, nil
	}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	router := newRouter(t)
	router.Expect(t.Context(), "run")
	router.Attach("run", manager, func(int) (net.Conn, error) { return net.Dial("tcp", server.Listener.Addr().String()) })
	response, err := insecure.Post(router.URL(manager, port, "/validate")+"?timeout=30s", "application/json", strings.NewReader(`{"kind": "AdmissionReview", "request": {"namespace": "run"}}`))
	g.Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	g.Expect(io.ReadAll(response.Body)).To(BeEquivalentTo("answered"))
	g.Expect(handshakes.Load()).To(BeEquivalentTo(3))
}

var insecure = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // only used with servers of the test

func TestInvalidReviewIsRejected(t *testing.T) {
	router := newRouter(t)
	for _, url := range []string{router.URL(manager, port, "/x"), router.ConversionURL(manager, port, "/x", "v1")} {
		for _, body := range []string{"{", "{}"} {
			response, err := insecure.Post(url, "application/json", strings.NewReader(body))
			NewWithT(t).Expect(err).NotTo(HaveOccurred())
			_ = response.Body.Close()
			NewWithT(t).Expect(response.StatusCode).To(Equal(http.StatusBadRequest))
		}
	}
}

// TestExpectOutlivesPreviousRun ends a run after the next run in the same namespace has started.
func TestExpectOutlivesPreviousRun(t *testing.T) {
	router := newRouter(t)
	synctest.Test(t, func(t *testing.T) {
		first, endFirst := context.WithCancel(t.Context())
		second, endSecond := context.WithCancel(t.Context())
		router.Expect(first, "home")
		router.Expect(second, "home")
		endFirst()
		synctest.Wait()
		if _, _, expected := router.managers("home", manager); !expected {
			t.Error("the operator of the second run is not expected anymore after the first run has ended")
		}
		endSecond()
		synctest.Wait()
		if _, _, expected := router.managers("home", manager); expected {
			t.Error("an operator is still expected after both runs have ended")
		}
	})
}
