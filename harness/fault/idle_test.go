package fault

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/record"
)

func TestOperatorMustSyncToBeIdle(t *testing.T) {
	for name, test := range map[string]struct {
		instances []string // the requests of each instance
		idle      bool     // whether the last instance becomes idle
	}{
		"first instance sends nothing":    {[]string{""}, false},
		"second instance sends nothing":   {[]string{"watch a", ""}, false},
		"watch of another resource":       {[]string{"watch a", "watch b"}, false},
		"one of two watches":              {[]string{"watch a, watch b", "watch b"}, false},
		"all watches":                     {[]string{"watch a, watch b", "watch c, watch b, watch a"}, true},
		"list instead of a watch":         {[]string{"watch a", "list a"}, false},
		"only the watches are required":   {[]string{"list a, watch b", "watch b"}, true},
		"list of another resource":        {[]string{"list a", "list b"}, false},
		"all lists, if there is no watch": {[]string{"list a, list b", "list b, list a"}, true},
		"third instance":                  {[]string{"watch a", "watch a, watch b", "watch a"}, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := NewWithT(t)
			injector, history := newIdleRun(t)
			for i, requests := range test.instances {
				injector.NewInstance(&rest.Config{})
				for request := range strings.SplitSeq(requests, ", ") {
					if verb, target, sent := strings.Cut(request, " "); sent {
						injector.recordOpened(verb, target)
					}
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := injector.WaitIdle(ctx, history, time.Second)
				if want := test.idle || i < len(test.instances)-1; want {
					g.Expect(err).NotTo(HaveOccurred(), name)
				} else {
					g.Expect(err).To(MatchError(ContainSubstring("it has not reopened its watches")), name)
				}
				g.Expect(injector.Synced()).To(Equal(err == nil), name)
			}
		})
	}
}

func TestWaitIdleWaitsForNextInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		injector, history := newIdleRun(t)
		injector.NewInstance(&rest.Config{})
		start := time.Now()
		go func() {
			time.Sleep(time.Second)
			injector.NewInstance(&rest.Config{})
			time.Sleep(time.Second)
			injector.recordOpened("watch", "a")
		}()
		g.Expect(injector.WaitIdle(t.Context(), history, time.Second)).To(Succeed())
		g.Expect(time.Since(start)).To(Equal(3 * time.Second))
	})
}

func TestCrashedInstanceIsNotSynced(t *testing.T) {
	g := NewWithT(t)
	injector := New(Scope{})
	_, first := injector.NewInstance(&rest.Config{})
	injector.recordOpened("watch", "a")
	first.crash()
	g.Expect(injector.Synced()).To(BeFalse())
	injector.NewInstance(&rest.Config{})
	injector.recordOpened("watch", "a")
	first.crash()
	g.Expect(injector.Synced()).To(BeTrue(), "the newest instance has not crashed")
}

func TestChangeRestartsIdleWindowOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		injector, history := newIdleRun(t)
		injector.recordOpened("watch", "configmaps")
		start := time.Now()
		go func() {
			time.Sleep(50 * time.Millisecond)
			changed := &unstructured.Unstructured{}
			changed.SetNamespace("a")
			history.Record(record.ObjectVersion{Unstructured: changed})
		}()
		g.Expect(injector.WaitIdle(t.Context(), history, time.Second)).To(Succeed())
		g.Expect(time.Since(start)).To(Equal(1050 * time.Millisecond))
	})
}

func newIdleRun(t *testing.T) (*Injector, *record.History) {
	t.Helper()
	history, err := record.NewHistory(t.Context(), nil, "a")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return New(Scope{Namespace: "a"}), history
}
