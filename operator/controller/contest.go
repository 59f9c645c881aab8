package controller

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/operator-assay/assay/operator/api/workload"
)

// drifted are the paths, sorted, of the fields that this operator owns otherwise than it desires, and of the one that no
// update can repair.
func (c *child) drifted() []string {
	owned, err := c.owned()
	if err != nil {
		return nil
	}
	var paths []string
	for _, change := range compare("", owned, fieldsOf(c.desired)) {
		paths = append(paths, change.path)
	}
	if c.unrepairable() {
		paths = append(paths, "spec.clusterIP")
	}
	slices.Sort(paths)
	return paths
}

// contested is the blocker of a child whose fields somebody else changes again and again.
func (r *reconciler[R]) contested(ctx context.Context, child *child) *blocker {
	live := child.object.DeepCopyObject().(client.Object)
	_ = r.apiReader.Get(ctx, client.ObjectKeyFromObject(live), live) // the cache keeps this operator's entries, which blame nobody
	drifted := child.drifted()
	managers := managersOf(live, drifted)
	who := strings.Join(managers, ", ") + " keeps changing"
	if len(managers) == 0 {
		who = "somebody, or an admission policy, keeps changing or removing"
	}
	return &blocker{child: child.kind, reason: workload.ReasonContested, needsUser: true,
		message: fmt.Sprintf("%s %s of the %s, which is repaired once in %s: let only one of both set it",
			who, strings.Join(drifted, ", "), child.kind, repairInterval)}
}

// rewritten is the blocker of a child that the API server does not store as it was applied.
func (c *child) rewritten() *blocker {
	return &blocker{child: c.kind, reason: workload.ReasonContested, needsUser: true,
		message: fmt.Sprintf("an admission policy changes %s of the %s when it is applied: exempt the %s from it",
			strings.Join(c.drifted(), ", "), c.kind, c.kind)}
}

// unseen is the blocker of a child that was written while the cache still shows an older version of it, whose status is
// about an older spec. It holds until the cache shows the version that was written, or a newer one.
func (c *child) unseen(written string) *blocker {
	return &blocker{child: c.kind, reason: workload.ReasonRetrying, retryAfter: maxDelay, written: written,
		message: fmt.Sprintf("%s %q is written, which the watch does not show yet", c.kind, c.object.GetName())}
}

// isAccepted reports whether the API server took a write: that the cache does not show yet what was written, or that the child
// is deleted now, is no failure.
func isAccepted(err error) bool {
	var b *blocker
	return err == nil || errors.As(err, &b) && (b.written != "" || b.reason == workload.ReasonWaitingForDeletion)
}

var (
	listElement = regexp.MustCompile(`\[[^\]]*\]`)
	// labelled are the maps of which each key has an owner of its own.
	labelled = regexp.MustCompile(`\.(labels|annotations)(\.|$)`)
)

// managersOf names, sorted, the other managers that own one of the paths.
func managersOf(object client.Object, paths []string) []string {
	var managers []string
	for _, entry := range object.GetManagedFields() {
		set := &fieldpath.Set{}
		if entry.Manager == Name || set.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
			continue
		}
		owned := false
		set.Leaves().Iterate(func(leaf fieldpath.Path) {
			owned = owned || slices.ContainsFunc(paths, func(path string) bool { return owns(leaf.String(), path) })
		})
		if owned {
			managers = append(managers, entry.Manager)
		}
	}
	slices.Sort(managers)
	return slices.Compact(managers)
}

// owns reports whether the owner of a leaf also owns the path: the leaf is the path, or a structure, such as a selector,
// that is owned as a whole and contains it. A label whose name begins like another's contains nothing.
func owns(leaf, path string) bool {
	leaf, path = listElement.ReplaceAllString(leaf, ""), "."+listElement.ReplaceAllString(path, "")
	return leaf == path || strings.HasPrefix(path, leaf+".") && !labelled.MatchString(leaf)
}
