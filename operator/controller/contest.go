package controller

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/operator-assay/assay/operator/api/workload"
)

// drifted are the paths, sorted, of the fields that this operator owns otherwise than it desires.
func (c *child) drifted() []string {
	owned, err := c.owned()
	if err != nil {
		return nil
	}
	var paths []string
	for _, change := range compare("", owned, fieldsOf(c.desired)) {
		paths = append(paths, change.path)
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
	if len(managers) == 0 {
		return child.rewritten()
	}
	return &blocker{child: child.kind, reason: workload.ReasonContested, needsUser: true,
		message: fmt.Sprintf("%s keeps changing %s of the %s, which is repaired once in %s: let only one of both set it",
			strings.Join(managers, ", "), strings.Join(drifted, ", "), child.kind, repairInterval)}
}

// rewritten is the blocker of a child that the API server does not store as it was applied.
func (c *child) rewritten() *blocker {
	return &blocker{child: c.kind, reason: workload.ReasonContested, needsUser: true,
		message: fmt.Sprintf("an admission policy changes %s of the %s when it is applied: exempt the %s from it",
			strings.Join(c.drifted(), ", "), c.kind, c.kind)}
}

var listElement = regexp.MustCompile(`\[[^\]]*\]`)

// managersOf names, sorted, the other managers that own one of the paths.
func managersOf(object client.Object, paths []string) []string {
	var managers []string
	for _, entry := range object.GetManagedFields() {
		set := &fieldpath.Set{}
		if entry.Manager == Name || set.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
			continue
		}
		owns := false
		set.Iterate(func(path fieldpath.Path) {
			owns = owns || slices.ContainsFunc(paths, func(drifted string) bool {
				return strings.TrimPrefix(listElement.ReplaceAllString(path.String(), ""), ".") == listElement.ReplaceAllString(drifted, "")
			})
		})
		if owns {
			managers = append(managers, entry.Manager)
		}
	}
	slices.Sort(managers)
	return slices.Compact(managers)
}
