package controller

import (
	"context"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deepest is how deep the fields of a child are nested at the most.
const deepest = 8

// replace makes a child as desired that an apply cannot. Server-side apply leaves what others set, and the API
// server refuses what cannot stand beside the desired fields: a probe with two handlers, a port's name
// used twice, a privileged container that may not escalate.
// Then the desired fields replace what is there, with as little around them as the API server accepts:
// first the innermost structures as a whole, then larger ones. What others set elsewhere stays.
func (r *reconciler[R]) replace(ctx context.Context, owner R, child *child, reason string, refused error) error {
	if err := r.patch(ctx, child, 1, client.DryRunAll); err != nil {
		return refused // not because of others
	}
	for depth := deepest; depth > 0; depth-- {
		err := r.patch(ctx, child, depth)
		if apierrors.IsInvalid(err) {
			continue
		}
		if err != nil {
			return err
		}
		break
	}
	return r.apply(ctx, owner, child, reason, client.ForceOwnership)
}

// patch replaces the child's fields from depth on by the desired ones. The API server then counts them as
// updated, which an apply could not give up: they are turned into applied ones.
func (r *reconciler[R]) patch(ctx context.Context, child *child, depth int, options ...client.PatchOption) error {
	current, err := runtime.DefaultUnstructuredConverter.ToUnstructured(child.object)
	if err != nil {
		return err
	}
	desired, err := runtime.DefaultUnstructuredConverter.ToUnstructured(child.desired)
	if err != nil {
		return err
	}
	merged := reflect.New(reflect.TypeOf(child.object).Elem()).Interface().(client.Object)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(overlay(current, desired, depth).(map[string]any), merged); err != nil {
		return err
	}
	ofThisVersion := client.MergeFromWithOptions(child.object, client.MergeFromWithOptimisticLock{})
	if err := r.Patch(ctx, merged, ofThisVersion, options...); err != nil || len(options) > 0 {
		return err
	}
	migrate, err := csaupgrade.UpgradeManagedFieldsPatch(merged, sets.New(Name), Name)
	if err == nil && len(migrate) > 0 {
		err = r.Patch(ctx, merged, client.RawPatch(types.JSONPatchType, migrate))
	}
	child.object.SetResourceVersion(merged.GetResourceVersion())
	return err
}

// overlay puts the desired fields into the current ones. Maps, and lists of elements with names, are merged down
// to depth; below, what is desired replaces what is there.
func overlay(current, desired any, depth int) any {
	currentMap, isMap := current.(map[string]any)
	desiredMap, wantsMap := desired.(map[string]any)
	currentList, isList := current.([]any)
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
	case depth > 0 && isList && wantsList:
		for _, element := range desiredList {
			i := slices.IndexFunc(currentList, func(other any) bool { return nameOf(other) != nil && nameOf(other) == nameOf(element) })
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

func nameOf(element any) any {
	fields, _ := element.(map[string]any)
	return fields["name"]
}
