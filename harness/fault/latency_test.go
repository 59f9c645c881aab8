package fault

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

func TestLatency(t *testing.T) {
	for of, slowed := range map[Type][]string{SlowReads: {"GET"}, SlowWrites: {"POST", "PUT", "PATCH", "DELETE"}} {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			client, api := clientOf(t, New(Scope{}, Fault{Type: of}))
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
				start := time.Now()
				g.Expect(client.Verb(method).AbsPath("/api/v1/namespaces/run/configmaps/one").Do(t.Context()).Error()).To(Succeed())
				want := time.Duration(0)
				if slices.Contains(slowed, method) {
					want = addedLatency
				}
				g.Expect(time.Since(start)).To(Equal(want), of.Name()+" "+method)
			}
			g.Expect(api.received).To(HaveLen(5), "delayed requests are still sent")
		})
	}
}

func TestCrashDoesNotWaitForLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, start := NewWithT(t), time.Now()
		injector := New(Scope{}, Fault{Type: SlowWrites})
		client, api := clientOf(t, injector)
		sent := make(chan error)
		go func() { sent <- client.Put().AbsPath("/api/v1/namespaces/run/configmaps/one").Do(t.Context()).Error() }()
		synctest.Wait()
		injector.lives.newest.End()
		g.Expect(<-sent).NotTo(HaveOccurred(), "the API server has already received the request")
		g.Expect(time.Since(start)).To(BeZero())
		g.Expect(api.received).To(HaveLen(1))
	})
}
