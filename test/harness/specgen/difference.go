package specgen

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
)

// difference is one between two specs.
type difference struct {
	path     string
	from, to any
}

// differences are sorted by path. They go down to the fields of objects, but not into lists.
func differences(path string, from, to any) []difference {
	if equality.Semantic.DeepEqual(from, to) {
		return nil
	}
	before, wasObject := from.(map[string]any)
	after, isObject := to.(map[string]any)
	if !wasObject || !isObject {
		return []difference{{path, from, to}}
	}
	var found []difference
	keys := maps.Clone(before)
	maps.Copy(keys, after)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		found = append(found, differences(path+"."+key, under(before, key), under(after, key))...)
	}
	return found
}

func under(object map[string]any, key string) any {
	if value, there := object[key]; there {
		return value
	}
	return absent
}

// shown is how much of a value is shown.
const shown = 40

func show(value any) string {
	if value == absent {
		return "absent"
	}
	text := keyOf(value)
	if word, isText := value.(string); isText {
		text = fmt.Sprintf("%q", word)
	}
	if runes := []rune(text); len(runes) > shown {
		return fmt.Sprintf("%s… (%d characters)", string(runes[:shown]), len(runes))
	}
	return text
}
