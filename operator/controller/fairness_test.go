package controller

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// held reconciles each request as long as its name says.
func held(_ context.Context, request ctrl.Request) (ctrl.Result, error) {
	took, err := time.ParseDuration(request.Name)
	time.Sleep(took)
	return ctrl.Result{}, err
}

func inNamespace(namespace string, took time.Duration) ctrl.Request {
	return ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: took.String()}}
}

// TestANamespaceThatHoldsWorkersHasHalfOfThem has a webhook hold each reconcile of two namespaces.
func TestANamespaceThatHoldsWorkersHasHalfOfThem(t *testing.T) {
	for workers, half := range map[int]int{1: 1, 2: 1, 8: 4} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fair := newFairReconciler(workers, reconcile.Func(held))
				begun, refused := time.Now(), 0
				for _, namespace := range []string{"slow", "slower"} { // nobody knows yet
					if _, err := fair.Reconcile(t.Context(), inNamespace(namespace, childWriteTimeout)); err != nil {
						t.Fatal(err)
					}
				}
				if time.Since(begun) != 2*childWriteTimeout {
					t.Fatal("they were not reconciled")
				}
				for i := range workers + 1 {
					go func() {
						result, err := fair.Reconcile(t.Context(), inNamespace([]string{"slow", "slower"}[i%2], childWriteTimeout))
						if err != nil {
							t.Error(err)
						}
						if !result.IsZero() {
							refused++
						}
						if wait := result.RequeueAfter; !result.IsZero() && wait < 100*time.Millisecond || wait > 2*slowRetry {
							t.Errorf("a resource that is not at fault waits for %s", wait)
						}
					}()
					synctest.Wait()
				}
				if refused != workers+1-half {
					t.Errorf("of %d workers, %d are held", workers, workers+1-refused)
				}
				begun = time.Now()
				if result, err := fair.Reconcile(t.Context(), inNamespace("fast", time.Millisecond)); err != nil || !result.IsZero() || time.Since(begun) != time.Millisecond {
					t.Errorf("another namespace has to wait: %+v, %v", result, err)
				}
				time.Sleep(childWriteTimeout) // the workers are free again
				if result, err := fair.Reconcile(t.Context(), inNamespace("slow", 0)); err != nil || !result.IsZero() {
					t.Errorf("a worker is never given back: %+v, %v", result, err)
				}
			})
		})
	}
}

func TestANamespaceIsSlowForAWhileAfterAReconcileThatTookLong(t *testing.T) {
	for name, test := range map[string]struct {
		took, ago time.Duration
		slow      bool
	}{
		"a webhook held it":                        {childWriteTimeout, 0, true},
		"and will hold the next retry":             {childWriteTimeout, maxDelay, true},
		"its cache was late":                       {cacheReadTimeout, 0, false},
		"it took as long as a busy API server may": {slowReconcile, 0, false},
		"it did long ago":                          {childWriteTimeout, slowNamespace + time.Nanosecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fair := newFairReconciler(1, reconcile.Func(held))
				ask := func(took time.Duration) ctrl.Result {
					result, err := fair.Reconcile(t.Context(), inNamespace("a", took))
					if err != nil {
						t.Error(err)
					}
					return result
				}
				ask(test.took)
				time.Sleep(test.ago)
				go ask(time.Second)
				synctest.Wait()
				if second := ask(0); second.IsZero() == test.slow {
					t.Errorf("it counts as slow: %t", !test.slow)
				}
				if len(fair.slow) > 0 != test.slow {
					t.Errorf("%d namespaces are remembered", len(fair.slow))
				}
				time.Sleep(time.Second)
			})
		})
	}
}

// TestAPanicHoldsNoWorker: controller-runtime recovers from it, and the next reconcile of a slow namespace must find a worker.
func TestAPanicHoldsNoWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fair := newFairReconciler(1, reconcile.Func(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
			if request.Name == "panic" {
				panic("a bug")
			}
			return held(ctx, request)
		}))
		if _, err := fair.Reconcile(t.Context(), inNamespace("slow", childWriteTimeout)); err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() { _ = recover() }()
			_, _ = fair.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "slow", Name: "panic"}})
		}()
		if result, err := fair.Reconcile(t.Context(), inNamespace("slow", 0)); err != nil || !result.IsZero() {
			t.Errorf("no worker is left: %+v, %v", result, err)
		}
	})
}

// TestANamespaceIsForgottenThoughNobodyComesFromIt: it may have been deleted.
func TestANamespaceIsForgottenThoughNobodyComesFromIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fair := newFairReconciler(1, reconcile.Func(held))
		for i := range 10 {
			if _, err := fair.Reconcile(t.Context(), inNamespace(fmt.Sprint("preview-", i), childWriteTimeout)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(slowNamespace)
		}
		if len(fair.slow) > 1 {
			t.Errorf("%d namespaces are remembered", len(fair.slow))
		}
	})
}

// TestThousandsThatWaitCostLittle has one namespace of many resources be slow: each that comes again in vain is a reconcile.
func TestThousandsThatWaitCostLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, waiting = 16, 10_000
		fair := newFairReconciler(workers, reconcile.Func(held))
		if _, err := fair.Reconcile(t.Context(), inNamespace("slow", childWriteTimeout)); err != nil {
			t.Fatal(err)
		}
		for range workers / 2 {
			go func() { _, _ = fair.Reconcile(t.Context(), inNamespace("slow", time.Minute)) }()
		}
		synctest.Wait()
		queue, begin, vain := make([]time.Time, waiting), time.Now(), 0
		for i := range queue {
			queue[i] = begin
		}
		for now := begin; now.Sub(begin) < 2*time.Second; now = time.Now() {
			for i, due := range queue {
				if !due.After(now) {
					result, err := fair.Reconcile(t.Context(), inNamespace("slow", time.Duration(i)))
					if err != nil || result.RequeueAfter < slowRetry {
						t.Fatalf("again after %s, %v", result.RequeueAfter, err)
					}
					queue[i] = now.Add(result.RequeueAfter)
					vain++
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		if most := waiting + 2*workers*int(time.Second/slowRetry)*2; vain > most {
			t.Errorf("%d reconciles in vain, more than %d", vain, most)
		}
		time.Sleep(time.Minute)
	})
}

// TestEventsOfOneThatWaitsKeepItsTurn: they neither bring it earlier nor send it, or others, further away.
func TestEventsOfOneThatWaitsKeepItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fair := newFairReconciler(16, reconcile.Func(held))
		if _, err := fair.Reconcile(t.Context(), inNamespace("slow", childWriteTimeout)); err != nil {
			t.Fatal(err)
		}
		for range 8 {
			go func() { _, _ = fair.Reconcile(t.Context(), inNamespace("slow", childWriteTimeout)) }()
		}
		synctest.Wait()
		turns := map[time.Time]bool{}
		for begin := time.Now(); time.Since(begin) < time.Second; time.Sleep(time.Millisecond) {
			result, err := fair.Reconcile(t.Context(), inNamespace("slow", 0))
			if err != nil || result.RequeueAfter > slowRetry {
				t.Fatalf("it comes again after %s, %v", result.RequeueAfter, err)
			}
			turns[time.Now().Add(result.RequeueAfter)] = true
		}
		if most := int(time.Second / slowRetry); len(turns) > most {
			t.Errorf("it has %d turns in a second", len(turns))
		}
		time.Sleep(childWriteTimeout)
		if result, err := fair.Reconcile(t.Context(), inNamespace("slow", 0)); err != nil || !result.IsZero() || len(fair.turns) > 0 {
			t.Errorf("it comes again after %s, %v; %d turns are remembered", result.RequeueAfter, err, len(fair.turns))
		}
	})
}
