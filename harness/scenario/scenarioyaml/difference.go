package scenarioyaml

import (
	"encoding/json"
	"fmt"

	"github.com/operator-assay/assay/harness/diff"
)

func missing(want, got map[string]any) []diff.Field {
	return diff.Comparison{Subset: true}.Fields("", want, got)
}

func format(value any) string {
	if value == nil || value == diff.Absent {
		return "nothing"
	}
	switch value := value.(type) {
	case string:
		return value
	default:
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Sprint(value)
		}
		return string(text)
	}
}
