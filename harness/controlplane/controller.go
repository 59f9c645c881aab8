package controlplane

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// controller adds the objects from its informers to a queue and calls a function for each item. It retries a failed
// item with exponential backoff. It does not retry NotFound and Conflict errors, because the object was deleted or the
// informer will deliver a newer version.
type controller struct {
	informers []cache.SharedIndexInformer
	queue     workqueue.TypedRateLimitingInterface[work]
	cancel    context.CancelFunc
	running   sync.WaitGroup // the informers and the workers
}

type work struct {
	kind string
	name cache.ObjectName
}

func newController() *controller {
	return &controller{queue: workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[work](5*time.Millisecond, time.Second))}
}

// watch adds an informer for a resource of the core API. It returns the informer's cache. An informer factory would
// make the compiler generate code for every API type in each package that imports this one.
func (c *controller) watch(client rest.Interface, kind, resource string, object runtime.Object) cache.Indexer {
	all := cache.NewListWatchFromClient(client, resource, metav1.NamespaceAll, fields.Everything())
	informer := cache.NewSharedIndexInformer(all, object, 0, cache.Indexers{})
	enqueue := func(object any) {
		if object, err := meta.Accessor(object); err == nil {
			c.queue.Add(work{kind, cache.MetaObjectToName(object)})
		}
	}
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) }}) // the informer has not been stopped
	c.informers = append(c.informers, informer)
	return informer.GetIndexer()
}

// run starts the informers and the workers. They run until stop is called, even if ctx is done before that.
func (c *controller) run(ctx context.Context, workers int, syncOne func(context.Context, work) error) {
	ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for _, informer := range c.informers {
		c.running.Go(func() { informer.RunWithContext(ctx) })
	}
	for range workers {
		c.running.Go(func() { c.work(ctx, syncOne) })
	}
}

func (c *controller) stop() {
	c.cancel()
	c.queue.ShutDown()
	c.running.Wait()
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
