package fault

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/operator-assay/assay/harness/record"
)

func isReset(err error) bool { return errors.Is(err, syscall.ECONNRESET) }

// put sends a single request. It disables client-go's retries after a 429.
func put(t *testing.T, client *kubernetes.Clientset, namespace, name string) error {
	return client.CoreV1().RESTClient().Put().MaxRetries(0).Namespace(namespace).Resource("configmaps").Name(name).
		Body(configMap(name, "new")).Do(t.Context()).Error()
}

func valueOf(t *testing.T, namespace, name string) string {
	t.Helper()
	object, err := admin.CoreV1().ConfigMaps(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return object.Data["value"]
}

func TestErrorResponseToNthRequest(t *testing.T) {
	for faultType, recognised := range map[Type]func(error) bool{
		Error409:        apierrors.IsConflict,
		Error429:        apierrors.IsTooManyRequests,
		Error500:        apierrors.IsInternalError,
		Error503:        apierrors.IsServiceUnavailable,
		Error504:        apierrors.IsTimeout,
		ConnectionReset: isReset,
	} {
		t.Run(faultType.Name(), func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			namespace, injector := newRun(t, faultType.Name()+" update configmaps one 2")
			client, instance := newInstance(t, injector)
			set(t, namespace, "one", "A")
			set(t, namespace, "two", "A")
			g.Expect(put(t, client, namespace, "one")).To(Succeed())
			set(t, namespace, "one", "A")
			g.Expect(put(t, client, namespace, "two")).To(Succeed(), "the name differs")
			_, err := client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "one", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred(), "the verb differs")
			g.Expect(injector.TriggeredAt()).To(BeZero())

			err = put(t, client, namespace, "one")
			g.Expect(recognised(err)).To(BeTrue(), "%v", err)
			g.Expect(injector.TriggeredAt()).To(BeTemporally("~", time.Now(), timeout))
			g.Expect(valueOf(t, namespace, "one")).To(Equal("A"))

			g.Expect(put(t, client, namespace, "one")).To(Succeed())
			g.Expect(valueOf(t, namespace, "one")).To(Equal("new"))
			g.Expect(instance.Crashed()).NotTo(BeClosed())
		})
	}
}

func TestSlowErrorDelaysRequest(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace, injector := newRun(t, "slow-error-500 create configmaps - 1")
	client, _ := newInstance(t, injector)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	g.Expect(create(ctx, client, namespace, "one")).To(MatchError(context.DeadlineExceeded), "a client with a shorter timeout does not wait for the response")
	g.Expect(configMapNames(t, namespace)).To(BeEmpty())
	g.Expect(create(t.Context(), client, namespace, "one")).To(Succeed(), "only one request is delayed")

	injector.SetFault(Fault{Type: SlowError500, At: RequestKey{Verb: "create", Target: "configmaps", Name: "-", Nth: 1}})
	start := time.Now()
	g.Expect(apierrors.IsInternalError(create(t.Context(), client, namespace, "two"))).To(BeTrue())
	g.Expect(time.Since(start)).To(BeNumerically(">=", webhookTimeout))
}

func TestClientHonorsRetryAfter(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	namespace, injector := newRun(t, "error-429 create configmaps - 1")
	client, _ := newInstance(t, injector)
	g.Expect(create(t.Context(), client, namespace, "one")).To(Succeed())
	requests := injector.Requests.Requests()
	g.Expect(requests).To(HaveLen(2))
	g.Expect(requests[0].Status).To(Equal(429))
	g.Expect(requests[1].Time.Sub(requests[0].Time)).To(BeNumerically(">=", time.Second), "Retry-After is 1s")
}

func TestBurstEndsAfterDuration(t *testing.T) {
	t.Parallel()
	for faultType, recognised := range map[Type]func(error) bool{
		ErrorBurst409:        apierrors.IsConflict,
		ErrorBurst503:        apierrors.IsServiceUnavailable,
		ConnectionResetBurst: isReset,
	} {
		t.Run(faultType.Name(), func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			namespace, injector := newRun(t, faultType.Name()+" update configmaps one 2")
			client, instance := newInstance(t, injector)
			set(t, namespace, "one", "A")
			set(t, namespace, "two", "A")
			g.Expect(put(t, client, namespace, "one")).To(Succeed())
			set(t, namespace, "one", "A")
			err := put(t, client, namespace, "one")
			g.Expect(recognised(err)).To(BeTrue(), "%v", err)
			g.Expect(put(t, client, namespace, "two")).To(Succeed(), "requests for other objects succeed")
			for err != nil {
				g.Expect(recognised(err)).To(BeTrue(), "%v", err)
				err = put(t, client, namespace, "one")
			}
			end := injector.TriggeredAt().Add(burstDuration)
			var refused int
			for _, request := range injector.Requests.Requests(func(r record.Request) bool { return r.Name == "one" })[1:] {
				if request.Status == 200 {
					g.Expect(request.Time.Add(request.Duration)).To(BeTemporally(">=", end))
				} else {
					g.Expect(request.Time).To(BeTemporally("<", end))
					refused++
				}
			}
			g.Expect(refused).To(BeNumerically(">", 1))
			g.Expect(instance.Crashed()).NotTo(BeClosed())
		})
	}
}

func TestBurstEndsAtRestart(t *testing.T) {
	g := NewWithT(t)
	namespace, injector := newRun(t, "error-burst-503 create configmaps - 1")
	client, instance := newInstance(t, injector)
	g.Expect(apierrors.IsServiceUnavailable(create(t.Context(), client, namespace, "one"))).To(BeTrue())
	injector.schedule.faults[0].burstUntil = time.Now().Add(time.Hour) // a slow machine could take longer than the burst; no request is in flight
	g.Expect(apierrors.IsServiceUnavailable(create(t.Context(), client, namespace, "one"))).To(BeTrue())
	instance.End()
	client, _ = newInstance(t, injector)
	g.Expect(create(t.Context(), client, namespace, "one")).To(Succeed())
}

func TestLatency(t *testing.T) {
	for faultType, slowed := range map[Type]func(record.Request) bool{
		SlowReads:  func(r record.Request) bool { return r.Verb == "get" || r.Verb == "list" },
		SlowWrites: record.Request.IsWrite,
	} {
		t.Run(faultType.Name(), func(t *testing.T) {
			t.Parallel()
			g, ctx := NewWithT(t), t.Context()
			namespace, injector := newRun(t, faultType.Name())
			client, _ := newInstance(t, injector)
			configMaps := client.CoreV1().ConfigMaps(namespace)
			g.Expect(create(ctx, client, namespace, "one")).To(Succeed())
			g.Expect(put(t, client, namespace, "one")).To(Succeed())
			_, err := configMaps.Get(ctx, "one", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			_, err = configMaps.List(ctx, metav1.ListOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(configMaps.Delete(ctx, "one", metav1.DeleteOptions{})).To(Succeed())

			requests := injector.Requests.Requests()
			g.Expect(requests).To(HaveLen(5))
			fault := scheduled{Fault: Fault{Type: faultType}}
			for _, request := range requests {
				g.Expect(fault.appliesTo(&request, RequestKey{})).To(Equal(slowed(request)), request.String())
				if slowed(request) {
					g.Expect(request.Duration).To(BeNumerically(">=", addedLatency), request.String())
				}
			}
			g.Expect(injector.Writes()).To(HaveLen(3), "delayed writes are still performed")
			g.Expect(injector.TriggeredAt()).NotTo(BeZero())
		})
	}
}

func TestCrashDoesNotWaitForLatency(t *testing.T) {
	g := NewWithT(t)
	namespace, injector := newRun(t, "slow-writes")
	client, instance := newInstance(t, injector)
	created := make(chan error)
	go func() { created <- create(t.Context(), client, namespace, "one") }()
	g.Eventually(injector.TriggeredAt).ShouldNot(BeZero())
	instance.End()
	g.Expect(<-created).NotTo(HaveOccurred(), "the API server has already received the request")
	g.Expect(configMapNames(t, namespace)).To(Equal([]string{"one"}))
	g.Expect(create(t.Context(), client, namespace, "two")).To(MatchError(errDisconnected))
}
