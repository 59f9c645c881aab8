package fault

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
)

func TestCrashes(t *testing.T) {
	for of, sent := range map[Type]int{CrashBefore: 1, CrashAfter: 2, DelayedWrite: 1, LostResponse: 2} {
		g := NewWithT(t)
		api := &server{code: http.StatusCreated, body: []byte(`{"kind": "ConfigMap", "metadata": {"name": "one", "resourceVersion": "1"}}`)}
		injector := New(Scope{}, Fault{of, RequestKey{"create", "configmaps", "-", 2}})
		client, instance := operatorOf(t, injector, api)
		send := func(method string) error {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			request, err := http.NewRequestWithContext(ctx, method, "http://server/api/v1/namespaces/run/configmaps", bytes.NewReader([]byte("{}")))
			g.Expect(err).NotTo(HaveOccurred())
			response, err := client.Do(request)
			if err == nil {
				_ = response.Body.Close()
			}
			return err
		}
		g.Expect(send(http.MethodPost)).To(Succeed(), "the second create is affected")
		g.Expect(injector.TriggeredAt()).To(BeZero())
		g.Expect(send(http.MethodPost)).NotTo(Succeed(), of.Name())
		g.Expect(injector.TriggeredAt()).NotTo(BeZero())
		g.Expect(api.received).To(HaveLen(sent), of.Name())
		g.Expect(injector.Journal.Writes()).To(HaveLen(sent), of.Name())
		g.Expect(injector.IsPending()).To(Equal(of == DelayedWrite), of.Name())
		if of == LostResponse {
			g.Expect(instance.Crashed()).NotTo(BeClosed())
			g.Expect(send(http.MethodPost)).To(Succeed(), "only one request is affected")
			instance.End()
			g.Expect(send(http.MethodPost)).To(MatchError(errDisconnected))
			g.Expect(instance.Crashed()).NotTo(BeClosed(), "End must not count as a crash")
			continue
		}
		g.Expect(instance.Crashed()).To(BeClosed(), of.Name())
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			g.Expect(send(method)).To(MatchError(errDisconnected), of.Name())
		}
		g.Expect(api.received).To(HaveLen(sent), of.Name())
		for injector.Release() {
		}
		if of == DelayedWrite {
			g.Expect(api.received).To(HaveLen(2), "the write arrives on release, even if the operator has canceled it")
			g.Expect(io.ReadAll(api.received[1].Body)).To(BeEquivalentTo("{}"))
			g.Expect(injector.Journal.Writes()).To(HaveLen(2))
		}
		next, _ := operatorOf(t, injector, api)
		_, err := next.Get("http://server/version")
		g.Expect(err).NotTo(HaveOccurred(), "the next instance is connected")
	}
}

// TestNoWritesAfterCrash crashes the operator while many goroutines are writing, so that some requests are in flight.
func TestNoWritesAfterCrash(t *testing.T) {
	for _, faultType := range []Type{CrashBefore, CrashAfter} {
		t.Run(faultType.Name(), func(t *testing.T) {
			t.Parallel()
			g, ctx := NewWithT(t), t.Context()
			namespace, injector := newRun(t, faultType.Name()+" create configmaps - 50")
			client, instance := newInstance(t, injector)
			var writing sync.WaitGroup
			var mu sync.Mutex
			var done []string
			for i := range 16 {
				writing.Go(func() {
					for j := 0; ; j++ {
						name := fmt.Sprintf("%02d-%04d", i, j)
						if err := create(ctx, client, namespace, name); err != nil {
							g.Expect(err).To(MatchError(errDisconnected))
							return
						}
						mu.Lock()
						done = append(done, name)
						mu.Unlock()
					}
				})
			}
			<-instance.Crashed()
			atDeath := configMapNames(t, namespace)
			writing.Wait()
			g.Expect(configMapNames(t, namespace)).To(Equal(atDeath))

			slices.Sort(done)
			g.Expect(atDeath).To(ContainElements(done))
			g.Expect(len(atDeath)).To(BeNumerically(">=", map[Type]int{CrashBefore: 49, CrashAfter: 50}[faultType]))
			g.Expect(injector.Journal.Writes()).To(HaveLen(len(atDeath)))
		})
	}
}
