package controlplane

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// RunManager runs an operator's manager in the test process. It returns when the manager is elected, its controllers
// start, and the caches that were requested so far are synced; or with the error that prevented that.
//
// ctx bounds the start alone. The returned stop ends the manager, waits until every running reconcile has returned,
// and returns the result of mgr.Start. That is an orderly end and not a crash: a running reconcile may still write.
// Further calls return the same.
func RunManager(ctx context.Context, mgr manager.Manager) (stop func() error, err error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	starting, ended := context.WithCancelCause(ctx)
	over := make(chan struct{})
	var result error
	go func() {
		defer close(over)
		result = mgr.Start(running)
		ended(cmp.Or(result, errors.New("the manager ended at once")))
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
