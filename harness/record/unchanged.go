package record

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/diff"
)

// WaitUnchanged waits until, for a whole window, no object of a namespace is created, changed or deleted, Events and
// Leases excepted. A write without effect leaves the resourceVersion as it is and does not count; Recorder.WaitIdle
// notices those. When ctx ends first, the error shows each object that kept changing, how often, and its last change.
// The check is modelled on Cluster API's check for a stable resourceVersion.
func (l *ResourceLister) WaitUnchanged(ctx context.Context, reader client.WithWatch, namespace string, window time.Duration) error {
	kinds, _, err := l.Kinds()
	if err != nil {
		return err
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	history, err := NewHistory(watching, reader, namespace, slices.Collect(maps.Values(kinds))...)
	if err != nil {
		return fmt.Errorf("watching namespace %s: %w", namespace, err)
	}
	began := time.Now()
	if history.WaitStable(ctx, namespace, window) == nil {
		return nil
	}
	return fmt.Errorf("not unchanged for %s: %w%s", window, ctx.Err(), history.changesSince(namespace, began))
}

// changesSince shows each object of a namespace that has changed, how often, and its last change.
func (h *History) changesSince(namespace string, start time.Time) string {
	latest := map[types.UID]ObjectVersion{}
	counts, last := map[string]int{}, map[string]change{}
	for _, version := range h.Versions(namespace) {
		if version.Time.After(start) {
			object := version.GetKind() + "/" + version.GetName()
			counts[object]++
			last[object] = change{latest[version.GetUID()], version}
		}
		latest[version.GetUID()] = version
	}
	var story strings.Builder
	for _, object := range slices.Sorted(maps.Keys(last)) {
		fmt.Fprintf(&story, "\n%s changed %d times, at last:\n%s", object, counts[object], last[object])
	}
	return story.String()
}

// change is one of an object; before is empty for a creation.
type change struct{ before, after ObjectVersion }

func (c change) String() string {
	switch {
	case c.after.Deleted:
		return "it was deleted\n"
	case c.before.Unstructured == nil:
		return "it was created\n"
	}
	before, errBefore := diff.YAML(c.before.Unstructured)
	after, errAfter := diff.YAML(c.after.Unstructured)
	if err := errors.Join(errBefore, errAfter); err != nil {
		return err.Error() + "\n"
	}
	return diff.Unified("before", "after", before, after)
}
