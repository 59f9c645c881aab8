package controlplane

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// RunManager runs an operator's manager in the test process. It returns when the manager has been elected, its
// controllers are starting and all caches requested so far have synced. If the manager stops before that, RunManager
// returns its error.
//
// ctx bounds only the startup. The returned stop function stops the manager, waits for running reconciles to return,
// and returns the result of mgr.Start. This is a graceful shutdown, not a crash, so a running reconcile can still
// write. Later calls return the same result.
func RunManager(ctx context.Context, mgr manager.Manager) (stop func() error, err error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	starting, ended := context.WithCancelCause(ctx)
	over := make(chan struct{})
	var result error
	go func() {
		defer close(over)
		result = mgr.Start(running)
		ended(cmp.Or(result, errors.New("the manager ended before it was ready")))
	}()
	stop = sync.OnceValue(func() error {
		cancel()
		<-over
		return result
	})
	select {
	case <-mgr.Elected():
	case <-starting.Done():
	}
	if starting.Err() != nil || !mgr.GetCache().WaitForCacheSync(starting) {
		return nil, cmp.Or(stop(), context.Cause(starting))
	}
	return stop, nil
}
