package controller

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deepest is how deep the fields of a child are nested at the most.
const deepest = 8

// replace makes an existing child as desired when an apply cannot. Server-side apply leaves what others set, and the API
// server refuses what cannot stand beside the desired fields: a probe with two handlers, a port's name
// used twice, a privileged container that may not escalate.
// Then the desired fields replace what is there, with as little around them as the API server accepts:
// first the innermost structures as a whole, then larger ones. What others set elsewhere stays. The event of it
// brings the apply that takes the fields into this operator's ownership.
func (r *reconciler[R]) replace(ctx context.Context, owner R, child *child, reason string, refused error) error {
	if _, err := r.patch(ctx, child, 1, client.DryRunAll); apierrors.IsConflict(err) {
		return err
	} else if err != nil {
		return refused // not because of others
	}
	before := fieldsOf(child.object)
	for depth := deepest; depth > 0; depth-- {
		after, err := r.patch(ctx, child, depth)
		if isRefusal(err) {
			continue
		}
		if err != nil {
			return err
		}
		r.recordChange(ctx, owner, child, reason, diff(before, after))
		written := unstructured.Unstructured{Object: after}
		return r.readWritten(ctx, child, written.GetResourceVersion())
	}
	return refused
}

// patch replaces the fields of this very version of a child, from depth on, by the desired ones, and returns what
// became of the child. The API server then counts the fields as updated.
func (r *reconciler[R]) patch(ctx context.Context, child *child, depth int, options ...client.PatchOption) (map[string]any, error) {
	fields := overlay(fieldsOf(child.object), fieldsOf(child.desired), depth).(map[string]any)
	merged := fromFields(fields, child.object)
	err := r.Patch(ctx, merged, client.MergeFromWithOptions(child.object, client.MergeFromWithOptimisticLock{}), options...)
	return fieldsOf(merged), err
}

// migrateManagedFields turns fields that replace has updated into applied ones: an apply can give up those alone.
func (r *reconciler[R]) migrateManagedFields(ctx context.Context, child *child) error {
	// The cache keeps this operator's entries alone, and the patch holds those of all.
	if err := r.apiReader.Get(ctx, client.ObjectKeyFromObject(child.object), child.object); err != nil {
		return err
	}
	migration, err := csaupgrade.UpgradeManagedFieldsPatch(child.object, sets.New(Name), Name)
	if len(migration) == 0 { // somebody has done it, or it cannot be done
		return err
	}
	return r.Patch(ctx, child.object, client.RawPatch(types.JSONPatchType, migration))
}

// isRefusal reports whether the API server refused an object for what is in it: as invalid, or, as it does a node
// port that is used twice, without a reason.
func isRefusal(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsInvalid(err) || errors.As(err, &status) && status.Status().Reason == metav1.StatusReasonUnknown
}

// overlay puts the desired fields into the current ones. Maps, and lists of elements with names, are merged down
// to depth; below, what is desired replaces what is there.
func overlay(current, desired any, depth int) any {
	currentMap, isMap := current.(map[string]any)
	desiredMap, wantsMap := desired.(map[string]any)
	currentList, _ := current.([]any) // nil, of what is none
	desiredList, wantsList := desired.([]any)
	switch {
	case depth > 0 && isMap && wantsMap:
		for key, value := range desiredMap {
			below := depth - 1
			if key == "metadata" {
				below = depth // which has to stay the object's own
			}
			currentMap[key] = overlay(currentMap[key], value, below)
		}
		return currentMap
	case depth > 0 && wantsList && !slices.ContainsFunc(desiredList, isNameless):
		for _, element := range desiredList {
			i := slices.IndexFunc(currentList, func(other any) bool { return nameOf(other) == nameOf(element) })
			if i < 0 {
				currentList = append(currentList, element)
				continue
			}
			currentList[i] = overlay(currentList[i], element, depth-1)
		}
		return currentList
	default:
		return desired
	}
}

func isNameless(element any) bool { return nameOf(element) == nil }

func nameOf(element any) any {
	fields, _ := element.(map[string]any)
	return fields["name"]
}
