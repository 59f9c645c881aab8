package record

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"

	"github.com/operator-assay/assay/test/harness/diff"
)

// WaitUnchanged waits until, for a whole window, no object of a namespace is created, changed or deleted, Events and
// Leases excepted. A write without effect leaves the resourceVersion as it is and does not count; Recorder.WaitIdle
// notices those. When ctx ends first, the error shows each object that kept changing, how often, and its last change.
// The check is modelled on Cluster API's check for a stable resourceVersion.
func (l *ResourceLister) WaitUnchanged(ctx context.Context, namespace string, window time.Duration) error {
	kinds, err := l.Kinds()
	if err != nil {
		return err
	}
	watching, cancel := context.WithCancel(ctx)
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(l.dynamic, 0, namespace, nil)
	defer factory.Shutdown()
	defer cancel()
	changes := make(changeFeed)
	var synced []cache.DoneChecker
	for kind := range kinds {
		handler, err := factory.ForResource(kind).Informer().AddEventHandler(changes.handler(watching))
		if err != nil {
			return err
		}
		synced = append(synced, handler.HasSyncedChecker())
	}
	factory.Start(watching.Done())
	if !cache.WaitFor(ctx, "", synced...) {
		return fmt.Errorf("watching namespace %s: %w", namespace, ctx.Err())
	}
	return changes.waitUnchanged(ctx, window)
}

// change is what a watch reported; before is nil for a creation, after for a deletion.
type change struct{ before, after *unstructured.Unstructured }

// changeFeed carries the changes of many watches to one waiter.
type changeFeed chan change

func (feed changeFeed) handler(ctx context.Context) cache.ResourceEventHandler {
	tell := func(c change) {
		select {
		case feed <- c:
		case <-ctx.Done():
		}
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if !initial {
				tell(change{after: object.(*unstructured.Unstructured)})
			}
		},
		UpdateFunc: func(before, after any) {
			c := change{before.(*unstructured.Unstructured), after.(*unstructured.Unstructured)}
			if c.before.GetResourceVersion() != c.after.GetResourceVersion() { // equal when a watch was restarted
				tell(c)
			}
		},
		DeleteFunc: func(object any) {
			if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = last.Obj
			}
			tell(change{before: object.(*unstructured.Unstructured)})
		},
	}
}

func (feed changeFeed) waitUnchanged(ctx context.Context, window time.Duration) error {
	calm := time.NewTimer(window)
	defer calm.Stop()
	counts, last := map[string]int{}, map[string]change{}
	for {
		select {
		case c := <-feed:
			counts[c.object()]++
			last[c.object()] = c
			calm.Reset(window)
		case <-calm.C:
			return nil
		case <-ctx.Done():
			var story strings.Builder
			for _, object := range slices.Sorted(maps.Keys(last)) {
				fmt.Fprintf(&story, "\n%s changed %d times, at last:\n%s", object, counts[object], last[object])
			}
			return fmt.Errorf("not unchanged for %s: %w%s", window, ctx.Err(), story.String())
		}
	}
}

func (c change) object() string {
	object := c.after
	if object == nil {
		object = c.before
	}
	return object.GetKind() + "/" + object.GetName()
}

func (c change) String() string {
	switch {
	case c.before == nil:
		return "it was created\n"
	case c.after == nil:
		return "it was deleted\n"
	}
	before, errBefore := diff.YAML(c.before)
	after, errAfter := diff.YAML(c.after)
	if err := errors.Join(errBefore, errAfter); err != nil {
		return err.Error() + "\n"
	}
	return diff.Unified("before", "after", before, after)
}
