package integration

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/operator/api/workload"
)

var _ = Describe("An admission webhook", func() {
	// SpecPriority starts slow specs first, which shortens a parallel run.
	It("that does not respond in one namespace does not delay another namespace", SpecPriority(1), func(ctx SpecContext) {
		const more = 20 // fewer than the number of workers; a single worker would be busy for 40 s
		slow := newNamespace(ctx)
		admitServices(ctx, slow, 2*time.Second, time.Hour, true)
		for i := range more {
			create(ctx, newWebServer(slow, fmt.Sprintf("web-%d", i), 0))
		}
		last := newWebServer(slow, fmt.Sprintf("web-%d", more-1), 0)
		Eventually(func() record.Requests { return childWrites(slow) }).WithContext(ctx).ShouldNot(BeEmpty())

		start := time.Now()
		web := newWebServer(newNamespace(ctx), "web", 1)
		create(ctx, web)
		waitFor(ctx, current(web), beReady(1))
		AddReportEntry("ready in another namespace", time.Since(start).Round(time.Millisecond).String())
		waitWithin(ctx, 4*timeout, current(last), beDegraded(workload.ReasonRejected, "the Service cannot be written", "deadline exceeded"))
	})

	// Kubernetes allows a webhook to take up to 30 s.
	It("that takes 6 s only delays the children of its namespace", SpecPriority(1), func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		admitServices(ctx, namespace, 10*time.Second, 6*time.Second, true)
		web := newWebServer(namespace, "web", 1)
		create(ctx, web)
		waitFor(ctx, current(web), beReady(1))
		Expect(childWrites(namespace)).To(HaveLen(2), "writes of the children")
	})

	It("that rejects with a different message each time is retried with increasing delays", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		admitServices(ctx, namespace, 10*time.Second, 0, false)
		create(ctx, newWebServer(namespace, "web", 1))
		tries := func() record.Requests {
			return childWrites(namespace).Filter(func(r record.Request) bool { return r.Resource == "services" })
		}
		Eventually(func() int { return len(tries()) }).WithContext(ctx).Should(BeNumerically(">=", 3), "number of creations")
		delay := func(retry int) time.Duration { return tries()[retry].Time.Sub(tries()[retry-1].Time) }
		Expect(delay(2)).To(BeNumerically(">", 1500*time.Millisecond), "the second delay, after a first delay of %s", delay(1))
		statuses := assay.Requests.Requests(record.InNamespace(namespace), func(r record.Request) bool { return r.Subresource == "status" })
		Expect(len(statuses)).To(BeNumerically("<", len(tries())+8), "status writes:\n%s", statuses)
	})
})

// admitServices registers an admission webhook for Services in a namespace, and waits until the webhook is active. The
// webhook responds after the given delay. limit is its timeout.
func admitServices(ctx context.Context, namespace string, limit, delay time.Duration, allowed bool) {
	GinkgoHelper()
	var asked atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		message := fmt.Sprint("response ", asked.Add(1))
		var review admissionv1.AdmissionReview
		_ = json.NewDecoder(request.Body).Decode(&review) // the server notices a closed connection only after reading the body
		select {
		case <-time.After(delay):
			review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: allowed, Result: &metav1.Status{Message: message}}
			_ = json.NewEncoder(w).Encode(review) // a broken connection counts as a rejection
		case <-request.Context().Done():
		}
	}))
	DeferCleanup(server.Close)
	url := server.URL
	webhook := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "services.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url,
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"services"}},
			}},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
			TimeoutSeconds:          new(int32(limit.Seconds())),
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
	create(ctx, webhook)
	DeferCleanup(func(ctx SpecContext) { Expect(plane.Client.Delete(ctx, webhook)).To(Succeed()) })
	// The API server does not call a new webhook immediately.
	Eventually(func(ctx context.Context) bool {
		probing, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		probe := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"}}
		probe.Spec.Ports = []corev1.ServicePort{{Port: 80}}
		_ = plane.Client.Create(probing, probe, client.DryRunAll)
		return asked.Load() > 0
	}).WithContext(ctx).Should(BeTrue())
}
