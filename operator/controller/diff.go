package controller

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
)

// ignoredFields are the fields that say nothing of what was changed: they name the object, or change by
// themselves with every write.
var ignoredFields = []string{
	"apiVersion", "kind",
	"metadata.annotations.kubectl.kubernetes.io/last-applied-configuration", // which may hold a password
	"metadata.creationTimestamp", "metadata.generation", "metadata.managedFields",
	"metadata.resourceVersion", "metadata.uid", "status",
}

// change is a value that differs between two versions of an object. One that was not there, or is no more, is nil.
type change struct {
	path     string
	from, to any
}

// variable is the path of the value of a container's variable, which may be a password. Who may read Events and logs need
// not be who may read Deployments.
var variable = regexp.MustCompile(`\.env\[\d+\]\.value$`)

func (c change) String() string {
	if variable.MatchString(c.path) {
		return c.path + ": changed"
	}
	return fmt.Sprintf("%s: %s → %s", c.path, show(c.from), show(c.to))
}

// maxChanges is how many changes a record names: with thousands of Pods, one more may change every element of a list.
const maxChanges = 50

// diff lists, sorted, what differs between two versions of an object, one "path: from → to" for
// each value, but no more than maxChanges. A field that was not there, or is no more, reads as none.
func diff(before, after any) []string {
	var lines []string
	for _, change := range compare("", before, after) {
		lines = append(lines, change.String())
	}
	slices.Sort(lines)
	if more := len(lines) - maxChanges; more > 0 {
		lines = append(lines[:maxChanges], fmt.Sprintf("… and %d more", more))
	}
	return lines
}

// compare returns, in no order, the values that differ.
func compare(path string, before, after any) []change {
	if slices.Contains(ignoredFields, path) || equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	beforeMap, beforeIsMap := before.(map[string]any)
	afterMap, afterIsMap := after.(map[string]any)
	beforeList, beforeIsList := before.([]any)
	afterList, afterIsList := after.([]any)
	var changes []change
	switch {
	case (beforeIsMap || before == nil) && (afterIsMap || after == nil):
		for key := range sets.KeySet(beforeMap).Union(sets.KeySet(afterMap)) {
			changes = append(changes, compare(strings.TrimPrefix(path+"."+key, "."), beforeMap[key], afterMap[key])...)
		}
	case (beforeIsList || before == nil) && (afterIsList || after == nil):
		for i := range max(len(beforeList), len(afterList)) {
			changes = append(changes, compare(fmt.Sprintf("%s[%d]", path, i), at(beforeList, i), at(afterList, i))...)
		}
	default:
		changes = append(changes, change{path, before, after})
	}
	return changes
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
