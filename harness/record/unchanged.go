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

// WaitUnchanged waits until no object in a namespace has been created, changed or deleted for the length of window.
// Events and Leases are ignored. Writes that do not change the resourceVersion are ignored as well; use
// Recorder.WaitIdle to detect them. If ctx is done first, the error shows the number of changes of each object and its
// last change.
//
// It is modelled on the check for stable resourceVersions in Cluster API.
func (l *ResourceLister) WaitUnchanged(ctx context.Context, reader client.WithWatch, namespace string, window time.Duration) error {
	kinds, _, err := l.Kinds()
	if err != nil {
		return err
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	history, err := NewHistory(watching, reader, namespace, slices.Collect(maps.Values(kinds))...)
	if err != nil {
		return fmt.Errorf("cannot watch namespace %s: %w", namespace, err)
	}
	began := time.Now()
	if history.WaitStable(ctx, namespace, window) == nil {
		return nil
	}
	return fmt.Errorf("not unchanged for %s: %w%s", window, ctx.Err(), history.changesSince(namespace, began))
}

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
	var changes strings.Builder
	for _, object := range slices.Sorted(maps.Keys(last)) {
		fmt.Fprintf(&changes, "\n%s changed %d times, last change:\n%s", object, counts[object], last[object])
	}
	return changes.String()
}

// change is a change to one object. before is empty if the object was created.
type change struct{ before, after ObjectVersion }

func (c change) String() string {
	switch {
	case c.after.Deleted:
		return "deleted\n"
	case c.before.Unstructured == nil:
		return "created\n"
	}
	before, errBefore := diff.YAML(c.before.Unstructured)
	after, errAfter := diff.YAML(c.after.Unstructured)
	if err := errors.Join(errBefore, errAfter); err != nil {
		return err.Error() + "\n"
	}
	return diff.Unified("before", "after", before, after)
}
