package scenarioyaml

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operator-assay/assay/harness/diff"
)

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
	if value == nil || value == diff.Absent {
		return "nothing"
	}
	switch value := value.(type) {
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

func identityOf(object *unstructured.Unstructured) map[string]any {
	return map[string]any{"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(), "metadata": map[string]any{"name": object.GetName()}}
}
