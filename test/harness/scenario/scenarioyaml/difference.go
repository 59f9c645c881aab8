package scenarioyaml

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// difference is a field that is not as it should be, in words.
type difference struct{ path, want, got string }

// nothing is what a field holds that is not there.
const nothing = "nothing"

// fieldDifferences are the fields of want that are otherwise in got, in the order of their paths. What got
// has besides does not count, except in lists.
func fieldDifferences(path string, want, got any) []difference {
	switch want := want.(type) {
	case map[string]any:
		fields, ok := got.(map[string]any)
		if !ok && (got != nil || len(want) == 0) {
			break
		}
		var found []difference
		for _, key := range slices.Sorted(maps.Keys(want)) {
			found = append(found, fieldDifferences(strings.TrimPrefix(path+"."+key, "."), want[key], fields[key])...)
		}
		return found
	case []any:
		elements, ok := got.([]any)
		if !ok {
			break
		}
		if len(elements) != len(want) {
			return []difference{{path, count(want), count(elements)}}
		}
		var found []difference
		for index := range want {
			found = append(found, fieldDifferences(fmt.Sprintf("%s[%d]", path, index), want[index], elements[index])...)
		}
		return found
	default:
		if want == got {
			return nil
		}
	}
	return []difference{{path, format(want), format(got)}}
}

func count(elements []any) string {
	if len(elements) == 1 {
		return "1 element"
	}
	return fmt.Sprintf("%d elements", len(elements))
}

func format(value any) string {
	switch value := value.(type) {
	case nil:
		return nothing
	case string:
		return value
	case []any:
		return count(value)
	default:
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Sprint(value)
		}
		return string(text)
	}
}

// maxFieldsInDetail is how many fields the note of a step can name in few words.
const maxFieldsInDetail = 2

// describeChanges says what an apply sets, and from what if the scenario has applied the object before.
func describeChanges(object, before *unstructured.Unstructured) string {
	was := map[string]any{"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "metadata": map[string]any{"name": object.GetName()}}
	if before != nil {
		was = before.Object
	}
	var changed []string
	for _, d := range fieldDifferences("", object.Object, was) {
		if d.got == nothing {
			changed = append(changed, d.path+": "+d.want)
		} else {
			changed = append(changed, d.path+": "+d.got+" → "+d.want)
		}
	}
	for _, d := range fieldDifferences("", was, object.Object) {
		if d.got == nothing { // what is no longer applied
			changed = append(changed, d.path+": "+d.want+" → "+nothing)
		}
	}
	if len(changed) == 0 {
		return "unchanged"
	}
	if more := len(changed) - maxFieldsInDetail; more > 0 {
		changed = append(changed[:maxFieldsInDetail], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(changed, ", ")
}
