package controlplane

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// controller adds the objects from its informers to a queue and calls a function for each item. It retries a failed
// item with exponential backoff. It does not retry NotFound and Conflict errors, because the object was deleted or the
// informer will deliver a newer version.
type controller struct {
	informers informers.SharedInformerFactory
	queue     workqueue.TypedRateLimitingInterface[work]
	cancel    context.CancelFunc
	workers   sync.WaitGroup
}

type work struct {
	kind string
	name cache.ObjectName
}

func newController(clientset kubernetes.Interface) *controller {
	return &controller{
		informers: informers.NewSharedInformerFactory(clientset, 0),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[work](5*time.Millisecond, time.Second)),
	}
}

// run starts the informers and the workers. They run until stop is called, even if ctx is done before that.
func (c *controller) run(ctx context.Context, workers int, syncOne func(context.Context, work) error) {
	ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.informers.StartWithContext(ctx)
	for range workers {
		c.workers.Go(func() { c.work(ctx, syncOne) })
	}
}

func (c *controller) stop() {
	c.cancel()
	c.queue.ShutDown()
	c.workers.Wait()
	c.informers.Shutdown()
}

func (c *controller) work(ctx context.Context, syncOne func(context.Context, work) error) {
	for {
		item, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		if err := syncOne(ctx, item); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			c.queue.AddRateLimited(item)
		} else {
			c.queue.Forget(item)
		}
		c.queue.Done(item)
	}
}
