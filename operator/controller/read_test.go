package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	webserverv1 "github.com/operator-assay/assay/operator/api/webserver/v1"
)

// TestAReadWaitsForTheCacheAndNotForLong has a cache that never shows this operator's own writes.
func TestAReadWaitsForTheCacheAndNotForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		r := newFakeReconciler(interceptor.NewClient(newFakeClient(t, storedWebServer()), interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				reads++
				if (&client.GetOptions{}).ApplyOptions(options).DisableReadYourWritesConsistency {
					return c.Get(ctx, key, object, options...)
				}
				<-ctx.Done()
				return fmt.Errorf("wait for the cache: %w", ctx.Err())
			},
		}))
		begin, ws := time.Now(), &webserverv1.WebServer{}
		if err := r.read(t.Context(), client.ObjectKeyFromObject(storedWebServer()), ws); err != nil || ws.UID != "web-uid" {
			t.Errorf("got %+v, %v", ws, err)
		}
		if waited := time.Since(begin); waited < 500*time.Millisecond || waited > 2*time.Second {
			t.Errorf("it waited for %s", waited)
		}
		reads = 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := r.read(ctx, client.ObjectKeyFromObject(storedWebServer()), ws); !errors.Is(err, context.DeadlineExceeded) || reads != 1 {
			t.Errorf("when time is up, after %d reads: %v", reads, err)
		}
	})
}

func TestAReadThatFailsIsNotRepeated(t *testing.T) {
	reads, broken := 0, errors.New("broken")
	var first context.Context
	r := newFakeReconciler(interceptor.NewClient(newFakeClient(t), interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
			reads++
			first = ctx
			return broken
		},
	}))
	if err := r.read(t.Context(), client.ObjectKeyFromObject(storedWebServer()), storedWebServer()); !errors.Is(err, broken) || reads != 1 {
		t.Errorf("after %d reads: %v", reads, err)
	}
	if first.Err() == nil {
		t.Error("its timer goes on")
	}
}

// TestTheGarbageCollectorIsNotFought: what it deletes or orphans must not be made anew meanwhile. A resource that waits
// for somebody else's finalizer serves on.
func TestTheGarbageCollectorIsNotFought(t *testing.T) {
	for name, test := range map[string]struct {
		finalizer string
		deleted   bool
		serves    bool
	}{
		"its dependents are deleted first":   {metav1.FinalizerDeleteDependents, true, false},
		"its dependents are orphaned":        {metav1.FinalizerOrphanDependents, true, false},
		"it waits for somebody else":         {"example.com/kept", true, true},
		"its dependents would be deleted":    {metav1.FinalizerDeleteDependents, false, true},
		"it would have to wait for somebody": {"example.com/kept", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			ws := storedWebServer()
			ws.Finalizers = []string{test.finalizer}
			fake := newFakeClient(t, ws)
			if test.deleted {
				if err := fake.Delete(t.Context(), ws); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := newFakeReconciler(fake).Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(ws)}); err != nil {
				t.Fatal(err)
			}
			child := webServers.children(webServers, ws).service.object
			if err := fake.Get(t.Context(), client.ObjectKeyFromObject(child), child); (err == nil) != test.serves {
				t.Errorf("it serves: %t", !test.serves)
			}
		})
	}
}

// TestAResourceThatIsCollectedIsNotWaitedFor: its deletion needs no write, and others must not count it among those that roll out.
func TestAResourceThatIsCollectedIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFakeServer(t, completeObjects(t)...)
		work["a Pod that becomes ready"](t, server.fake)
		server.event()
		if len(server.debounce.pending) != 1 {
			t.Fatal("its status waits for nothing")
		}
		ws := getWebServer(t, server.fake)
		ws.Finalizers = []string{metav1.FinalizerDeleteDependents}
		if err := errors.Join(server.fake.Update(t.Context(), ws), server.fake.Delete(t.Context(), ws)); err != nil {
			t.Fatal(err)
		}
		if result, _ := server.event(); !result.IsZero() || server.writes > 0 || len(server.debounce.pending) > 0 {
			t.Errorf("again after %s, %d writes, and %d wait", result.RequeueAfter, server.writes, len(server.debounce.pending))
		}
	})
}

// TestNobodyLooksAgainWhenNothingIsToBeDone has somebody's finalizer keep a WebServer whose children were orphaned on purpose.
func TestNobodyLooksAgainWhenNothingIsToBeDone(t *testing.T) {
	settled := completeObjects(t)
	settled[0].SetFinalizers([]string{"example.com/backup"})
	for _, child := range settled[1:] {
		child.SetOwnerReferences(nil)
	}
	server := newFakeServer(t, settled...)
	if err := server.fake.Delete(t.Context(), settled[0]); err != nil {
		t.Fatal(err)
	}
	if result, err := server.reconcile(); err != nil || !result.IsZero() || server.writes > 0 {
		t.Errorf("again after %s, %v, and %d writes", result.RequeueAfter, err, server.writes)
	}
}
