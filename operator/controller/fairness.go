package controller

import (
	"context"
	"maps"
	"sync"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// fairReconciler keeps one namespace from taking all workers: where an admission webhook is slow, each reconcile
// holds a worker for seconds. Namespaces whose reconciles were slow lately share half of the workers.
type fairReconciler struct {
	reconcile.Reconciler
	workers int

	mu    sync.Mutex
	slow  map[string]time.Time       // namespaces, and until when they count as slow
	busy  int                        // workers that slow namespaces have
	turns map[ctrl.Request]time.Time // when those that wait come again
	last  time.Time                  // when the last of them does
}

func newFairReconciler(workers int, of reconcile.Reconciler) *fairReconciler {
	return &fairReconciler{Reconciler: of, workers: workers, turns: map[ctrl.Request]time.Time{}}
}

// Reconcile reconciles at once, or has the request come again when slow namespaces have their share.
func (f *fairReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	begin := time.Now()
	slow, admitted := f.admit(request.Namespace, begin)
	if !admitted {
		return ctrl.Result{RequeueAfter: f.turn(request, begin)}, nil
	}
	defer func() { f.release(request, slow, time.Now(), begin) }()
	return f.Reconciler.Reconcile(ctx, request)
}

// turn is when the next of those that wait comes again: one after the other, so that a thousand of them cost little.
func (f *fairReconciler) turn(request ctrl.Request, now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if turn := f.turns[request]; turn.After(now) { // an event brought it earlier
		return turn.Sub(now)
	}
	if f.last = f.last.Add(slowRetry / time.Duration(f.workers)); f.last.Before(now.Add(slowRetry)) {
		f.last = now.Add(slowRetry)
	}
	f.turns[request] = f.last
	return f.last.Sub(now)
}

func (f *fairReconciler) admit(namespace string, now time.Time) (slow, admitted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now.After(f.slow[namespace]) {
		delete(f.slow, namespace)
		return false, true
	}
	if f.busy >= max(1, f.workers/2) {
		return true, false
	}
	f.busy++
	return true, true
}

func (f *fairReconciler) release(request ctrl.Request, slow bool, now, begin time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.turns, request)
	if slow {
		f.busy--
	}
	if now.Sub(begin) > slowReconcile {
		if f.slow == nil {
			f.slow = map[string]time.Time{}
		}
		// From one that was deleted nobody comes to have it forgotten.
		maps.DeleteFunc(f.slow, func(_ string, until time.Time) bool { return now.After(until) })
		f.slow[request.Namespace] = now.Add(slowNamespace)
	}
}
