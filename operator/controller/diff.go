package controller

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
)

// ignoredFields are the fields that say nothing of what was changed: they name the object, or change by
// themselves with every write.
var ignoredFields = []string{
	"apiVersion", "kind",
	"metadata.creationTimestamp", "metadata.generation", "metadata.managedFields",
	"metadata.resourceVersion", "metadata.uid", "status",
}

// diff lists, sorted, what differs between two versions of an object, one "path: from → to" for
// each value. A field that was not there, or is no more, reads as none.
func diff(before, after map[string]any) []string {
	var found []string
	compare("", before, after, &found)
	slices.Sort(found)
	return found
}

func compare(path string, before, after any, found *[]string) {
	if slices.Contains(ignoredFields, path) || equality.Semantic.DeepEqual(before, after) {
		return
	}
	beforeMap, beforeIsMap := before.(map[string]any)
	afterMap, afterIsMap := after.(map[string]any)
	beforeList, beforeIsList := before.([]any)
	afterList, afterIsList := after.([]any)
	switch {
	case beforeIsMap && afterIsMap, beforeIsMap && after == nil, afterIsMap && before == nil:
		for key := range sets.KeySet(beforeMap).Union(sets.KeySet(afterMap)) {
			compare(strings.TrimPrefix(path+"."+key, "."), beforeMap[key], afterMap[key], found)
		}
	case beforeIsList && afterIsList, beforeIsList && after == nil, afterIsList && before == nil:
		for i := range max(len(beforeList), len(afterList)) {
			compare(fmt.Sprintf("%s[%d]", path, i), at(beforeList, i), at(afterList, i), found)
		}
	default:
		*found = append(*found, fmt.Sprintf("%s: %s → %s", path, show(before), show(after)))
	}
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

func show(value any) string {
	if value == nil {
		return "none"
	}
	return fmt.Sprint(value)
}
