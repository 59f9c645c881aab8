package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// ownedField is a field that a manager has set and nobody has changed since, according to managedFields.
type ownedField struct {
	path  fieldpath.Path
	steps []string // to it, in the object that it was found in
	value any
}

// ownedFields are those of an object that a field manager owns, by path. Only leaves count: of a map, its entries.
func ownedFields(object *unstructured.Unstructured, manager string, operation metav1.ManagedFieldsOperationType) (map[string]ownedField, error) {
	i := slices.IndexFunc(object.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == manager && entry.Operation == operation && entry.Subresource == ""
	})
	if i < 0 {
		return nil, fmt.Errorf("%s owns nothing of %s %s by %s", manager, object.GetKind(), object.GetName(), operation)
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
			missing = append(missing, fmt.Errorf("%s is owned but is not there", path))
		}
		owned[path.String()] = ownedField{path.Copy(), steps, value}
	})
	return owned, errors.Join(missing...)
}

// find returns a field's value in an object, and the steps to it: a list's element is found by its key, and the step
// to it is its index.
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
			found = false // nobody owns an element by its index
		}
		if !found {
			return nil, nil, false
		}
	}
	return value, steps, true
}

// pointer is the JSON pointer to the field.
func (f ownedField) pointer() string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var out strings.Builder
	for _, step := range f.steps {
		out.WriteString("/" + escape.Replace(step))
	}
	return out.String()
}

// repairFrom is what an Event must contain about the field's repair from another version of its object. Elements of
// lists that were added or removed are reported in a form that cannot be predicted.
func (f ownedField) repairFrom(object *unstructured.Unstructured) string {
	for i, element := range f.path {
		if _, _, found := find(object, f.path[:i+1]); element.Key != nil && !found {
			return ""
		}
	}
	before, _, found := find(object, f.path)
	switch f.value.(type) {
	case map[string]any, []any:
		return spoken(f.steps) // the Event names its parts
	}
	if !found {
		before = "none"
	}
	return fmt.Sprintf("%s: %v → %v", spoken(f.steps), before, f.value)
}

// spoken joins steps as Events do: spec.ports[0].name.
func spoken(steps []string) string {
	var out strings.Builder
	for _, step := range steps {
		if step[0] >= '0' && step[0] <= '9' {
			out.WriteString("[" + step + "]")
		} else {
			out.WriteString("." + step)
		}
	}
	return strings.TrimPrefix(out.String(), ".")
}
