package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// converter is an operator that writes its name to the spec of converted objects and rejects objects named "broken".
type converter string

func (c converter) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var review apiextensionsv1.ConversionReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil || request.URL.Path != "/convert" {
		http.Error(w, "unexpected request", http.StatusBadRequest)
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

func attach(ctx context.Context, t *testing.T, router *Router, namespace string, operator http.Handler) *httptest.Server {
	t.Helper()
	router.Expect(ctx, namespace)
	return serve(t, router, namespace, manager, operator)
}

func newRouter(t *testing.T) *Router {
	t.Helper()
	router, err := NewRouter()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = router.Close() })
	return router
}

// convert asks the router to convert stored v1 objects to v2. objects are given as namespace/name. convert returns the
// names of the operators that converted them.
func convert(ctx context.Context, t *testing.T, router *Router, objects ...string) ([]string, error) {
	t.Helper()
	return convertTo(ctx, t, router, "v1", objects...)
}

func convertTo(ctx context.Context, t *testing.T, router *Router, stored string, objects ...string) ([]string, error) {
	t.Helper()
	g := NewWithT(t)
	asked := apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{UID: "1", DesiredAPIVersion: "example.com/v2"}}
	asked.APIVersion, asked.Kind = "apiextensions.k8s.io/v1", "ConversionReview"
	for _, object := range objects {
		namespace, name, _ := strings.Cut(object, "/")
		raw := fmt.Appendf(nil, `{"apiVersion": "example.com/v1", "kind": "Greeter", "metadata": {"namespace": %q, "name": %q}, "number": 12345678901234567}`, namespace, name)
		asked.Request.Objects = append(asked.Request.Objects, runtime.RawExtension{Raw: raw})
	}
	body, err := json.Marshal(asked)
	g.Expect(err).NotTo(HaveOccurred())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, router.ConversionURL(manager, port, "/convert", stored), bytes.NewReader(body))
	g.Expect(err).NotTo(HaveOccurred())
	response, err := insecure.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer apiextensionsv1.ConversionReview
	g.Expect(json.NewDecoder(response.Body).Decode(&answer)).To(Succeed())
	if answer.TypeMeta != asked.TypeMeta || answer.Response == nil || answer.Response.UID != "1" {
		t.Fatalf("unexpected ConversionReview: %+v", answer)
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
		g.Expect(json.Unmarshal(raw.Raw, &object)).To(Succeed())
		if object.Metadata.Namespace+"/"+object.Metadata.Name != objects[i] || object.APIVersion != "example.com/v2" || object.Number != "12345678901234567" {
			t.Errorf("%s: got %s, want the same object in example.com/v2", objects[i], raw.Raw)
		}
		by = append(by, object.Spec.By)
	}
	return by, nil
}

func TestConversionByOperatorOfNamespace(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	run, end := context.WithCancel(ctx)
	attach(run, t, router, "one", converter("first"))
	second := attach(ctx, t, router, "two", converter("second"))
	g.Expect(convert(ctx, t, router, "two/a", "one/b", "two/c")).To(Equal([]string{"second", "first", "second"}))

	second.Close()
	g.Expect(convert(ctx, t, router, "two/a", "one/b")).To(Equal([]string{"first", "first"}), "another operator converts the objects of a restarting operator")
	attach(ctx, t, router, "two", converter("third"))
	end()
	g.Eventually(func() ([]string, error) { return convert(ctx, t, router, "two/a", "one/b") }).Should(Equal([]string{"third", "third"}), "the remaining operator converts the objects of a finished run")
}

func TestConversionSelectsManagerByName(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	attach(ctx, t, router, "one", converter("first"))
	router.Expect(ctx, "two")
	serve(t, router, "two", "webhook", converter("second-webhook"))
	g.Expect(convert(ctx, t, router, "two/a")).To(Equal([]string{"first"}), "the manager with the requested name, even though it belongs to another namespace")
}

func TestConversionWaitsForOperator(t *testing.T) {
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
	g.Eventually(answer).Should(Receive(Equal([]string{"first"})))
}

func TestReadReturnsUnconvertibleObject(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	var why []string
	router.Refused = func(text string) { why = append(why, text) }
	run, end := context.WithCancel(ctx)
	attach(run, t, router, "one", converter("first"))
	attach(ctx, t, router, "two", converter("second"))
	g.Expect(convert(ctx, t, router, "one/broken", "one/a", "two/a")).To(Equal([]string{"", "", "second"}), "a failed conversion does not affect the other objects of the review")
	g.Expect(convert(ctx, t, router, "one/broken")).To(Equal([]string{""}))
	g.Expect(why).To(Equal([]string{"to example.com/v2: this one is broken"}), "only the first refusal is reported")

	end()
	g.Eventually(func() bool { _, _, expected := router.managers("one", manager); return expected }).Should(BeFalse())
	g.Expect(convert(ctx, t, router, "one/broken")).To(Equal([]string{""}))
	router.Expect(ctx, "two") // without a process
	g.Expect(convert(ctx, t, router, "one/a")).To(Equal([]string{""}), "the router does not wait for the operator of a finished run")
}

func TestWriteOfUnconvertibleObjectFails(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	attach(ctx, t, router, "one", converter("first"))
	_, err := convertTo(ctx, t, router, "v2", "one/broken")
	g.Expect(err).To(MatchError("this one is broken"))
	g.Expect(convertTo(ctx, t, router, "v2", "one/a")).To(Equal([]string{"first"}))
	_, err = convertTo(ctx, t, router, "v2", "another/broken")
	g.Expect(err).To(HaveOccurred())
}

func TestHangingOperatorDoesNotBlockOthers(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	router.answerTimeout = 10 * pollInterval
	never := make(chan struct{})
	attach(ctx, t, router, "one", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-never }))
	t.Cleanup(func() { close(never) })
	attach(ctx, t, router, "two", converter("second"))
	g.Expect(convert(ctx, t, router, "one/a", "two/a")).To(Equal([]string{"second", "second"}))
}

func TestSingleOperatorGetsAllReviews(t *testing.T) {
	g, ctx, router := NewWithT(t), t.Context(), newRouter(t)
	run, end := context.WithCancel(ctx)
	attach(run, t, router, "one", converter("first"))
	_, _, expected := router.managers("", manager)
	g.Expect(expected).To(BeFalse())
	router.SingleOperator = true
	for _, namespace := range []string{"", "one", "two"} {
		started, _, expected := router.managers(namespace, manager)
		g.Expect(expected).To(BeTrue(), namespace)
		g.Expect(started).NotTo(BeNil(), namespace)
	}
	end()
	g.Eventually(func() bool { _, _, expected := router.managers("", manager); return expected }).Should(BeFalse())
}
