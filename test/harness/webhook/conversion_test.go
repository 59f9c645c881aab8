package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/test/harness/controlplane"
)

// converter is an operator that converts objects: their spec says by whom. It refuses what is called broken.
type converter string

func (c converter) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var review apiextensionsv1.ConversionReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil || request.URL.Path != "/convert" {
		http.Error(w, "not what was asked for", http.StatusBadRequest)
		return
	}
	response := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, raw := range review.Request.Objects {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(raw.Raw); err != nil || object.GetName() == "broken" {
			response.Result = metav1.Status{Status: metav1.StatusFailure, Message: "this one is broken"}
			break
		}
		object.SetAPIVersion(review.Request.DesiredAPIVersion)
		object.Object["spec"] = map[string]any{"by": string(c)}
		converted, _ := object.MarshalJSON()
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: converted})
	}
	review.Request, review.Response = nil, response
	_ = json.NewEncoder(w).Encode(review)
}

// attach makes a server the operator of a namespace until ctx ends.
func attach(ctx context.Context, t *testing.T, router *Router, namespace string, operator http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewTLSServer(operator)
	t.Cleanup(server.Close)
	router.Expect(ctx, namespace)
	router.Attach(namespace, manager, func(int) (net.Conn, error) { return net.Dial("tcp", server.Listener.Addr().String()) })
	return server
}

func newRouter(t *testing.T) *Router {
	t.Helper()
	router, err := NewRouter()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = router.Close() })
	return router
}

// convert asks the router for some objects that are stored as v1 in version v2, each given as namespace/name, and returns
// by whom each was converted.
func convert(ctx context.Context, t *testing.T, router *Router, objects ...string) ([]string, error) {
	t.Helper()
	return convertTo(ctx, t, router, "v1", objects...)
}

// convertTo does so with objects that are stored in a certain version.
func convertTo(ctx context.Context, t *testing.T, router *Router, stored string, objects ...string) ([]string, error) {
	t.Helper()
	asked := apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{UID: "1", DesiredAPIVersion: "example.com/v2"}}
	asked.APIVersion, asked.Kind = "apiextensions.k8s.io/v1", "ConversionReview"
	for _, object := range objects {
		namespace, name, _ := strings.Cut(object, "/")
		raw := fmt.Appendf(nil, `{"apiVersion": "example.com/v1", "kind": "Greeter", "metadata": {"namespace": %q, "name": %q}, "number": 12345678901234567}`, namespace, name)
		asked.Request.Objects = append(asked.Request.Objects, runtime.RawExtension{Raw: raw})
	}
	body, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, router.ConversionURL(manager, port, "/convert", stored), bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := insecure.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer apiextensionsv1.ConversionReview
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if answer.TypeMeta != asked.TypeMeta || answer.Response == nil || answer.Response.UID != "1" {
		t.Fatalf("the answer is %+v", answer)
	}
	if answer.Response.Result.Status != metav1.StatusSuccess {
		return nil, errors.New(answer.Response.Result.Message)
	}
	var by []string
	for i, raw := range answer.Response.ConvertedObjects {
		var object struct {
			metav1.TypeMeta
			Metadata metav1.ObjectMeta
			Spec     struct{ By string }
			Number   json.Number
		}
		if err := json.Unmarshal(raw.Raw, &object); err != nil {
			t.Fatal(err)
		}
		if object.Metadata.Namespace+"/"+object.Metadata.Name != objects[i] || object.APIVersion != "example.com/v2" || object.Number != "12345678901234567" {
			t.Errorf("for %s: %s", objects[i], raw.Raw)
		}
		by = append(by, object.Spec.By)
	}
	return by, nil
}

func TestTheOperatorOfEachNamespaceConvertsItsObjects(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	run, end := context.WithCancel(ctx)
	attach(run, t, router, "one", converter("first"))
	second := attach(ctx, t, router, "two", converter("second"))
	g.Expect(convert(ctx, t, router, "two/a", "one/b", "two/c")).To(Equal([]string{"second", "first", "second"}))

	second.Close()
	g.Expect(convert(ctx, t, router, "two/a", "one/b")).To(Equal([]string{"first", "first"}), "while an operator restarts, another one converts")
	attach(ctx, t, router, "two", converter("third"))
	end()
	g.Eventually(func() ([]string, error) { return convert(ctx, t, router, "two/a", "one/b") }).Should(Equal([]string{"third", "third"}), "after a run, another run's operator converts")
}

func TestAConversionIsAskedOfTheManagerThatServesIt(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	attach(ctx, t, router, "one", converter("first"))
	server := httptest.NewTLSServer(converter("beside the second"))
	t.Cleanup(server.Close)
	router.Expect(ctx, "two")
	router.Attach("two", "beside", func(int) (net.Conn, error) { return net.Dial("tcp", server.Listener.Addr().String()) })
	g.Expect(convert(ctx, t, router, "two/a")).To(Equal([]string{"first"}), "the other one's manager rather than what runs beside its own")
}

func TestAConversionWaitsForAnOperator(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	router.Expect(ctx, "one")
	impatient, cancel := context.WithTimeout(ctx, 5*pollInterval)
	defer cancel()
	_, err := convert(impatient, t, router, "one/a")
	g.Expect(err).To(MatchError(context.DeadlineExceeded))

	answer := make(chan []string)
	go func() {
		by, _ := convert(ctx, t, router, "one/a")
		answer <- by
	}()
	attach(ctx, t, router, "one", converter("first"))
	g.Eventually(answer).WithTimeout(5 * time.Second).Should(Receive(Equal([]string{"first"})))
}

func TestWhatIsStoredIsReadEvenIfItCannotBeConverted(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	var why []string
	router.Refused = func(text string) { why = append(why, text) }
	run, end := context.WithCancel(ctx)
	attach(run, t, router, "one", converter("first"))
	attach(ctx, t, router, "two", converter("second"))
	g.Expect(convert(ctx, t, router, "one/broken", "one/a", "two/a")).To(Equal([]string{"", "", "second"}), "an API server caches them together")
	g.Expect(convert(ctx, t, router, "one/broken")).To(Equal([]string{""}))
	g.Expect(why).To(Equal([]string{"to example.com/v2: this one is broken"}))

	end()
	g.Eventually(func() bool { _, expected := router.manager("one", manager); return expected }).Should(BeFalse())
	g.Expect(convert(ctx, t, router, "one/broken")).To(Equal([]string{""}))
	router.Expect(ctx, "two") // it has none now
	g.Expect(convert(ctx, t, router, "one/a")).To(Equal([]string{""}), "nobody waits for a run that is over")
}

func TestWhatCannotBeConvertedIsNotWritten(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	attach(ctx, t, router, "one", converter("first"))
	_, err := convertTo(ctx, t, router, "v2", "one/broken")
	g.Expect(err).To(MatchError("this one is broken"))
	g.Expect(convertTo(ctx, t, router, "v2", "one/a")).To(Equal([]string{"first"}))
	_, err = convertTo(ctx, t, router, "v2", "another/broken")
	g.Expect(err).To(HaveOccurred())
}

func TestAnOperatorThatDoesNotAnswerHoldsUpNoOther(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	router.answerTimeout = 10 * pollInterval
	never := make(chan struct{})
	attach(ctx, t, router, "one", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-never }))
	t.Cleanup(func() { close(never) })
	attach(ctx, t, router, "two", converter("second"))
	g.Expect(convert(ctx, t, router, "one/a", "two/a")).To(Equal([]string{"second", "second"}))
}

func TestAnOperatorThatIsAloneIsAskedAboutAllObjects(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	run, end := context.WithCancel(ctx)
	attach(run, t, router, "one", converter("first"))
	_, expected := router.manager("", manager)
	g.Expect(expected).To(BeFalse())
	router.Alone = true
	for _, namespace := range []string{"", "one", "two"} {
		started, expected := router.manager(namespace, manager)
		g.Expect(expected).To(BeTrue(), namespace)
		g.Expect(started).NotTo(BeNil(), namespace)
	}
	end()
	g.Eventually(func() bool { _, expected := router.manager("", manager); return expected }).Should(BeFalse())
}

const greeterCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: greeters.example.com}
spec:
  group: example.com
  names: {kind: Greeter, listKind: GreeterList, plural: greeters, singular: greeter}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {by: {type: string}}}}}}
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {}}}
`

// TestAnAPIServerHasObjectsConverted checks that lists of an API server, whose caches hold the objects of all namespaces,
// work when one of the objects cannot be converted.
func TestAnAPIServerHasObjectsConverted(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	var crd apiextensionsv1.CustomResourceDefinition
	g.Expect(yaml.Unmarshal([]byte(greeterCRD), &crd)).To(Succeed())
	crd.Spec.Conversion.Webhook.ClientConfig = &apiextensionsv1.WebhookClientConfig{URL: new(router.ConversionURL(manager, port, "/convert", "v1")), CABundle: router.CA}
	text, err := yaml.Marshal(crd)
	g.Expect(err).NotTo(HaveOccurred())
	path := filepath.Join(t.TempDir(), "crd.yaml")
	g.Expect(os.WriteFile(path, text, 0o600)).To(Succeed())
	known := runtime.NewScheme()
	g.Expect(apiextensionsv1.AddToScheme(known)).To(Succeed())
	g.Expect(scheme.AddToScheme(known)).To(Succeed())
	plane, err := controlplane.Start(ctx, controlplane.Options{CRDs: []string{path}, Scheme: known})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = plane.Stop() })

	greeter := func(version, namespace, name string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Greeter"})
		object.SetNamespace(namespace)
		object.SetName(name)
		return object
	}
	convertedBy := func(namespace, name string) (string, error) {
		object := greeter("v2", namespace, name)
		err := plane.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		by, _, _ := unstructured.NestedString(object.Object, "spec", "by")
		return by, err
	}
	one, err := plane.CreateNamespace(ctx, "run")
	g.Expect(err).NotTo(HaveOccurred())
	two, err := plane.CreateNamespace(ctx, "run")
	g.Expect(err).NotTo(HaveOccurred())
	run, end := context.WithCancel(ctx)
	attach(run, t, router, one, converter("first"))
	attach(ctx, t, router, two, converter("second"))
	for _, object := range []*unstructured.Unstructured{greeter("v1", one, "hello"), greeter("v1", one, "broken"), greeter("v1", two, "hello")} {
		g.Expect(plane.Client.Create(ctx, object)).To(Succeed())
	}
	g.Expect(convertedBy(one, "hello")).To(Equal("first"))
	g.Expect(convertedBy(two, "hello")).To(Equal("second"))
	g.Expect(convertedBy(one, "broken")).To(BeEmpty())
	g.Expect(plane.Client.Create(ctx, greeter("v2", two, "written"))).To(Succeed())
	g.Expect(plane.Client.Create(ctx, greeter("v2", two, "broken"))).To(MatchError(ContainSubstring("this one is broken")))

	listed := func() (int, error) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "GreeterList"})
		err := plane.Client.List(ctx, list)
		return len(list.Items), err
	}
	g.Expect(listed()).To(Equal(4))

	end() // the run that has the broken object
	g.Expect(plane.Client.Get(ctx, client.ObjectKeyFromObject(&crd), &crd)).To(Succeed())
	crd.Spec.Names.ShortNames = []string{"gr"}
	g.Expect(plane.Client.Update(ctx, &crd)).To(Succeed(), "by which the API server loses its caches")
	g.Eventually(func() ([]string, error) {
		resources, err := discovery.NewDiscoveryClientForConfigOrDie(plane.Config).ServerResourcesForGroupVersion("example.com/v2")
		if err != nil || len(resources.APIResources) == 0 {
			return nil, err
		}
		return resources.APIResources[0].ShortNames, nil
	}).WithTimeout(10 * time.Second).Should(Equal([]string{"gr"}))
	g.Eventually(listed).WithTimeout(10 * time.Second).Should(Equal(4))
	g.Expect(convertedBy(one, "hello")).To(Equal("second"))
}
