package scenarioyaml

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/test/harness/diff"
)

// nothing is how a field is shown that does not exist.
const nothing = "nothing"

// missing returns the fields of want that got does not have, or has with another value.
func missing(want, got map[string]any) []diff.Field {
	return diff.Comparison{Subset: true}.Fields("", want, got)
}

func count(elements []any) string {
	if len(elements) == 1 {
		return "1 element"
	}
	return fmt.Sprintf("%d elements", len(elements))
}

func format(value any) string {
	if value == diff.Absent {
		return nothing
	}
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

// identityOf returns an object of the same kind and name without other fields.
func identityOf(object *unstructured.Unstructured) map[string]any {
	return map[string]any{"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "metadata": map[string]any{"name": object.GetName()}}
}

// maxFieldsInDetail is how many fields a step's detail names.
const maxFieldsInDetail = 2

// describeChanges returns what an apply sets, and from what if the scenario has applied the object before.
func describeChanges(object, before *unstructured.Unstructured) string {
	was := identityOf(object)
	if before != nil {
		was = before.Object
	}
	var changed []string
	for _, field := range missing(object.Object, was) {
		if field.To == diff.Absent {
			changed = append(changed, field.Path+": "+format(field.From))
		} else {
			changed = append(changed, field.Path+": "+format(field.To)+" → "+format(field.From))
		}
	}
	for _, field := range missing(was, object.Object) {
		if field.To == diff.Absent { // it is no longer applied
			changed = append(changed, field.Path+": "+format(field.From)+" → "+nothing)
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
