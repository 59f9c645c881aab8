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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/pod"
)

const (
	// timeout is generous because the machine may be overloaded.
	timeout = 30 * time.Second
	port    = 9443
	manager = "manager"
)

func TestMain(m *testing.M) {
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

// labeller is an operator that adds a label with its name to the objects that it admits.
type labeller string

func (l labeller) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil || request.URL.Path != "/label/it" {
		http.Error(w, "unexpected request", http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true, PatchType: new(admissionv1.PatchTypeJSONPatch),
		Patch: fmt.Appendf(nil, `[{"op": "add", "path": "/metadata/labels", "value": {"admitted-by": %q}}]`, string(l))}
	_ = json.NewEncoder(w).Encode(review)
}

// serve starts a manager in the test process.
func serve(t *testing.T, router *Router, namespace, manager string, handler http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	router.Attach(namespace, manager, func(int) (net.Conn, error) { return net.Dial("tcp", server.Listener.Addr().String()) })
	return server
}

// TestEachNamespaceHasItsOperator runs operators in two namespaces. The second operator consists of two managers.
func TestEachNamespaceHasItsOperator(t *testing.T) {
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
			labels("secrets", router.URL(manager, port, "/label/it")), labels("configmaps", router.URL("webhook", port, "/label/it")),
		},
	}
	g.Expect(plane.Client.Create(ctx, configuration)).To(Succeed())
	t.Cleanup(func() { g.Expect(plane.Client.Delete(context.Background(), configuration)).To(Succeed()) })
	newNamespace := func() string {
		namespace, err := plane.CreateNamespace(ctx, "run")
		g.Expect(err).NotTo(HaveOccurred())
		return namespace
	}
	created := func(object client.Object, namespace string) (string, error) {
		object.SetNamespace(namespace)
		object.SetGenerateName("any-")
		err := plane.Client.Create(ctx, object)
		return object.GetLabels()["admitted-by"], err
	}
	admittedBy := func(namespace string) (string, error) { return created(&corev1.Secret{}, namespace) }

	one, two, other := newNamespace(), newNamespace(), newNamespace()
	run, end := context.WithCancel(ctx)
	router.Expect(run, one)
	router.Expect(ctx, two)
	serve(t, router, one, manager, labeller("first"))
	serve(t, router, two, "webhook", labeller("second-webhook"))
	second := serve(t, router, two, manager, labeller("second"))
	g.Eventually(func() (string, error) { return admittedBy(one) }).Should(Equal("first"), "the API server does not use a new configuration immediately")
	g.Expect(admittedBy(two)).To(Equal("second"))
	g.Expect(admittedBy(other)).To(BeEmpty(), "no operator is expected in this namespace")

	second.Close()
	admitted := make(chan string)
	go func() {
		by, err := admittedBy(two)
		admitted <- fmt.Sprint(by, " ", err)
	}()
	g.Consistently(admitted).WithTimeout(5*pollInterval).ShouldNot(Receive(), "the request waits until the operator has restarted")
	g.Expect(created(&corev1.ConfigMap{}, two)).To(Equal("second-webhook"), "the second manager is not affected by the restart")
	serve(t, router, two, manager, labeller("third"))
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

func TestReviewWaitsForManager(t *testing.T) {
	g := NewWithT(t)
	var handshakes, requests atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			panic(http.ErrAbortHandler) // closes the connection, as a crash would
		}
		_, _ = io.WriteString(w, "answered")
	}))
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		if handshakes.Add(1) < 3 {
			return nil, errors.New("no certificate yet")
		}
		return nil, nil
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
	g.Expect(handshakes.Load()).To(BeEquivalentTo(4))
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
