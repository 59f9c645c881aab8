package controlplane

import (
	"context"
	"errors"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// RunManager runs an operator's manager in the test process. It returns when the manager leads,
// its controllers have been started and the caches they asked for are filled; or with the error
// that kept it from that.
//
// ctx bounds the start alone. The returned stop ends the manager, waits until every reconcile
// under way has returned, and gives what mgr.Start returned. Note that this is an orderly end and
// not a crash: a reconcile under way goes on and may write. Further calls return the same.
func RunManager(ctx context.Context, mgr manager.Manager) (stop func() error, err error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(running) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	select {
	case <-mgr.Elected():
	case err := <-ended:
		cancel()
		if err == nil {
			err = errors.New("the manager ended at once")
		}
		return nil, err
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), stop())
	}
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return nil, errors.Join(context.Cause(ctx), stop())
	}
	return stop, nil
}
