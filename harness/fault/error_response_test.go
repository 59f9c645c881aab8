package fault

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

func isReset(err error) bool { return errors.Is(err, syscall.ECONNRESET) }

// put updates a ConfigMap with a single request. By default, client-go would retry after a 429.
func put(t *testing.T, client *kubernetes.Clientset, namespace, name string) error {
	return client.CoreV1().RESTClient().Put().MaxRetries(0).Namespace(namespace).Resource("configmaps").Name(name).
		Body(configMap(name, "new")).Do(t.Context()).Error()
}

// clientOf returns a client for a new operator instance, and the fake API server that receives its requests.
func clientOf(t *testing.T, injector *Injector) (*rest.RESTClient, *server) {
	t.Helper()
	api := &server{code: http.StatusOK, body: []byte(`{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "one"}}`)}
	config, instance := injector.NewInstance(&rest.Config{Host: "http://server", Transport: api, QPS: -1})
	t.Cleanup(instance.End)
	config.GroupVersion, config.NegotiatedSerializer = &corev1.SchemeGroupVersion, scheme.Codecs
	client, err := rest.RESTClientFor(config)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return client, api
}

func TestErrorsAffectNthRequest(t *testing.T) {
	recognised := map[Type]func(error) bool{
		Error409: apierrors.IsConflict, Error429: apierrors.IsTooManyRequests, Error500: apierrors.IsInternalError,
		Error503: apierrors.IsServiceUnavailable, Error504: apierrors.IsTimeout, SlowError500: apierrors.IsInternalError,
		ConnectionReset: isReset, ErrorBurst409: apierrors.IsConflict, ErrorBurst503: apierrors.IsServiceUnavailable, ConnectionResetBurst: isReset,
	}
	for _, of := range Types(Errors) {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			injector := New(Scope{}, Fault{of, RequestKey{"update", "configmaps", "one", 2}})
			client, api := clientOf(t, injector)
			send := func(ctx context.Context, request *rest.Request, name string) error {
				return request.MaxRetries(0).AbsPath("/api/v1/namespaces/run/configmaps/" + name).Do(ctx).Error()
			}
			g.Expect(send(t.Context(), client.Put(), "one")).To(Succeed())
			g.Expect(send(t.Context(), client.Put(), "two")).To(Succeed(), "the name differs")
			g.Expect(send(t.Context(), client.Get(), "one")).To(Succeed(), "the verb differs")
			g.Expect(injector.TriggeredAt()).To(BeZero())

			start := time.Now()
			err := send(t.Context(), client.Put(), "one")
			g.Expect(recognised[of](err)).To(BeTrue(), "%s: %v", of.Name(), err)
			g.Expect(injector.TriggeredAt()).To(Equal(start))
			if of == SlowError500 {
				g.Expect(time.Since(start)).To(Equal(webhookTimeout))
			}
			if of.(*requestFault).lasts > 0 {
				time.Sleep(burstDuration - time.Nanosecond)
				g.Expect(recognised[of](send(t.Context(), client.Put(), "one"))).To(BeTrue(), of.Name())
				g.Expect(send(t.Context(), client.Put(), "two")).To(Succeed(), "requests for other objects succeed")
				time.Sleep(time.Nanosecond)
			}
			before := len(api.received)
			g.Expect(send(t.Context(), client.Put(), "one")).To(Succeed(), of.Name())
			g.Expect(api.received).To(HaveLen(before + 1))
			g.Expect(injector.lives.newest.Crashed()).NotTo(BeClosed())
		})
	}
}

func TestSlowErrorEndsWithRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		client, api := clientOf(t, New(Scope{}, Fault{SlowError500, RequestKey{"get", "configmaps", "one", 1}}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := client.Get().AbsPath("/api/v1/namespaces/run/configmaps/one").Do(ctx).Error()
		g.Expect(err).To(MatchError(context.DeadlineExceeded), "a client with a shorter timeout does not wait for the response")
		g.Expect(api.received).To(BeEmpty())
	})
}

func TestClientHonorsRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, start := NewWithT(t), time.Now()
		client, api := clientOf(t, New(Scope{}, Fault{Error429, RequestKey{"get", "configmaps", "one", 1}}))
		g.Expect(client.Get().AbsPath("/api/v1/namespaces/run/configmaps/one").Do(t.Context()).Error()).To(Succeed())
		g.Expect(api.received).To(HaveLen(1))
		g.Expect(time.Since(start)).To(Equal(time.Second), "Retry-After is 1s")
	})
}

func TestBurstEndsAtRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		injector := New(Scope{}, Fault{ErrorBurst503, RequestKey{"get", "configmaps", "one", 1}})
		get := func(client *rest.RESTClient) error {
			return client.Get().MaxRetries(0).AbsPath("/api/v1/namespaces/run/configmaps/one").Do(t.Context()).Error()
		}
		client, _ := clientOf(t, injector)
		g.Expect(apierrors.IsServiceUnavailable(get(client))).To(BeTrue())
		injector.lives.newest.End()
		client, _ = clientOf(t, injector)
		g.Expect(get(client)).To(Succeed())
	})
}
