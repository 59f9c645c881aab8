package integration

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// ownedField is a field that a manager owns according to managedFields.
type ownedField struct {
	path  fieldpath.Path
	steps []string // the map keys and list indexes that lead to the field in its object
	value any
}

// ownedFields returns the fields of an object that a field manager owns, keyed by path. It includes only leaf fields,
// such as the entries of a map.
func ownedFields(object *unstructured.Unstructured, manager string, operation metav1.ManagedFieldsOperationType) (map[string]ownedField, error) {
	i := slices.IndexFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == manager && entry.Operation == operation && entry.Subresource == ""
	})
	if i < 0 {
		return nil, fmt.Errorf("%s %s has no managedFields entry for manager %s and operation %s", object.GetKind(), object.GetName(), manager, operation)
	}
	set := &fieldpath.Set{}
	if err := set.FromJSON(object.GetManagedFields()[i].FieldsV1.GetRawReader()); err != nil {
		return nil, err
	}
	owned := map[string]ownedField{}
	var missing []error
	set.Leaves().Iterate(func(path fieldpath.Path) {
		value, steps, found := find(object, path)
		if !found {
			missing = append(missing, fmt.Errorf("managedFields lists %s, but the object does not have it", path))
		}
		owned[path.String()] = ownedField{path.Copy(), steps, value}
	})
	return owned, errors.Join(missing...)
}

// find returns the value of a field, and the map keys and list indexes that lead to it.
func find(object *unstructured.Unstructured, path fieldpath.Path) (value any, steps []string, found bool) {
	value = object.Object
	for _, element := range path {
		switch {
		case element.FieldName != nil:
			fields, _ := value.(map[string]any)
			value, found = fields[*element.FieldName]
			steps = append(steps, *element.FieldName)
		case element.Key != nil:
			list, _ := value.([]any)
			i := slices.IndexFunc(list, func(item any) bool {
				fields, _ := item.(map[string]any)
				for _, key := range *element.Key {
					if fmt.Sprint(fields[key.Name]) != fmt.Sprint(key.Value.Unstructured()) {
						return false
					}
				}
				return true
			})
			if found = i >= 0; found {
				value = list[i]
			}
			steps = append(steps, fmt.Sprint(i))
		case element.Value != nil:
			list, _ := value.([]any)
			i := slices.Index(list, (*element.Value).Unstructured())
			if found = i >= 0; found {
				value = list[i]
			}
			steps = append(steps, fmt.Sprint(i))
		default:
			found = false // fields are never owned by index
		}
		if !found {
			return nil, nil, false
		}
	}
	return value, steps, true
}
