package fault

import (
	"context"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func behindProxy(t *testing.T, injector *Injector) (client *kubernetes.Clientset, instance *Instance, shut func()) {
	t.Helper()
	g := NewWithT(t)
	config, instance := injector.NewInstance(identity)
	t.Cleanup(instance.End)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	shut, err = Serve(listener, config)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(shut)
	client, err = kubernetes.NewForConfig(&rest.Config{Host: "http://" + listener.Addr().String(), BearerToken: "not-the-operators", QPS: -1})
	g.Expect(err).NotTo(HaveOccurred())
	return client, instance, shut
}

func TestProxyForwardsRequests(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "")
	client, _, _ := behindProxy(t, injector)
	view := newView(t, client, namespace)
	g.Expect(create(ctx, client, namespace, "one")).To(Succeed())
	g.Eventually(view.Events).Should(Equal([]string{"add one=A"}), "the response arrives while the watch is open")
	g.Expect(put(t, client, namespace, "one")).To(Succeed())
	g.Eventually(view.Events).Should(Equal([]string{"add one=A", "update one=new"}))
	g.Expect(valueThrough(t, client, namespace, "one")).To(Equal("new"))
	_, err := client.CoreV1().ConfigMaps(namespace).Get(ctx, "two", metav1.GetOptions{})
	g.Expect(apierrors.IsNotFound(err)).To(BeTrue())
	g.Eventually(audited(t, namespace)).Should(Equal([]string{"create one", "update one", "get one", "get two"}), "the requests have the identity of the operator")
	g.Expect(injector.Journal.Writes()).To(HaveLen(2))
}

// TestProxyServesOpenAPI requests the schemas in the encoding that client-go uses, which the injector does not decode.
func TestProxyServesOpenAPI(t *testing.T) {
	g := NewWithT(t)
	_, injector := newRun(t, "")
	client, _, _ := behindProxy(t, injector)
	schema, err := client.OpenAPISchema()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(schema.GetDefinitions().GetAdditionalProperties()).NotTo(BeEmpty())
	paths, err := client.OpenAPIV3().Paths()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(paths).To(HaveKey("apis/apps/v1"))
}

func TestSharedWebhookIsNotChanged(t *testing.T) {
	needControlPlane(t)
	g, ctx := NewWithT(t), t.Context()
	configurations := admin.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	config, err := configurations.Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "shared"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{Name: "shared.example.com", AdmissionReviewVersions: []string{"v1"},
			SideEffects: new(admissionregistrationv1.SideEffectClassNone), ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: new("https://127.0.0.1:1/")}}},
	}, metav1.CreateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = configurations.Delete(context.Background(), config.Name, metav1.DeleteOptions{}) })

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	shut, err := Serve(listener, plane.Config)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(shut)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://" + listener.Addr().String(), QPS: -1})
	g.Expect(err).NotTo(HaveOccurred())
	config.Webhooks[0].ClientConfig.URL = new("https://127.0.0.1:2/")
	updated, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Update(ctx, config, metav1.UpdateOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*updated.Webhooks[0].ClientConfig.URL).To(Equal("https://127.0.0.1:2/"), "the response contains the change")
	g.Expect(client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(ctx, config.Name, metav1.DeleteOptions{})).To(Succeed())
	g.Expect(client.AdmissionregistrationV1().ValidatingWebhookConfigurations().DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})).To(Succeed())
	stored, err := configurations.Get(ctx, config.Name, metav1.GetOptions{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*stored.Webhooks[0].ClientConfig.URL).To(Equal("https://127.0.0.1:1/"), "the change is not stored")
}

func TestChangesShared(t *testing.T) {
	const webhooks, crds = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	for request, want := range map[string]bool{
		"PUT " + webhooks + "/one":      true,
		"PATCH " + crds + "/one":        true,
		"DELETE " + webhooks + "/one":   true,
		"DELETE " + webhooks:            true,
		"POST " + webhooks:              true,
		"GET " + webhooks + "/one":      false,
		"POST " + crds:                  false, // otherwise the CRD would never exist
		"PATCH /api/v1/namespaces/one":  false,
		"PATCH " + crds + "/one/status": false,
	} {
		method, path, _ := strings.Cut(request, " ")
		if got := changesShared(httptest.NewRequest(method, path, nil)); got != want {
			t.Errorf("%s: got %t, want %t", request, got, !got)
		}
	}
}

// TestProxyResetsConnection verifies that the proxy closes the connection to the operator. By default, a
// ReverseProxy would respond with an error.
func TestProxyResetsConnection(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	namespace, injector := newRun(t, "connection-reset create configmaps - 1")
	client, _, _ := behindProxy(t, injector)
	g.Expect(create(ctx, client, namespace, "one")).To(MatchError(io.EOF))
	g.Expect(create(ctx, client, namespace, "two")).To(Succeed())
	g.Expect(configMapNames(t, namespace)).To(Equal([]string{"two"}))
}

func TestClosedProxyEndsConnections(t *testing.T) {
	for what, end := range map[string]func(instance *Instance, shut func()){
		"shut":  func(_ *Instance, shut func()) { shut() },
		"death": func(instance *Instance, _ func()) { instance.End() },
	} {
		t.Run(what, func(t *testing.T) {
			g, ctx := NewWithT(t), t.Context()
			namespace, injector := newRun(t, "")
			client, instance, shut := behindProxy(t, injector)
			watch, err := client.CoreV1().ConfigMaps(namespace).Watch(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			defer watch.Stop()
			g.Expect(create(ctx, client, namespace, "one")).To(Succeed())
			g.Eventually(watch.ResultChan()).Should(Receive(HaveField("Object.ObjectMeta.Name", "one")))

			end(instance, shut)
			g.Eventually(func() bool {
				_, open := <-watch.ResultChan()
				return open
			}).Should(BeFalse())
			g.Expect(create(ctx, client, namespace, "two")).NotTo(Succeed())
			g.Expect(configMapNames(t, namespace)).To(Equal([]string{"one"}))
		})
	}
}
