package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Diff tells in which objects two snapshots differ, and how, as a unified diff for each; lines
// with - are in want alone, those with + in got alone. It is empty when the snapshots are equal.
func Diff(want, got Snapshot) string {
	keys := maps.Clone(want)
	maps.Copy(keys, got)
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		wanted, inWant := want[key]
		gotten, inGot := got[key]
		switch {
		case !inGot:
			fmt.Fprintf(&out, "- %s is missing\n", key)
		case !inWant:
			fmt.Fprintf(&out, "+ %s is too many\n", key)
		case wanted != gotten:
			out.WriteString(unifiedDiff("want "+key, "got "+key, asYAML(wanted), asYAML(gotten)))
		}
	}
	return out.String()
}

func asYAML(json string) string {
	text, err := yaml.JSONToYAML([]byte(json))
	if err != nil {
		return json // to show it raw beats not showing it
	}
	return string(text)
}

// readable is an object as YAML, without the bookkeeping of who owns which field.
func readable(object *unstructured.Unstructured) (string, error) {
	object = object.DeepCopy()
	object.SetManagedFields(nil)
	text, err := yaml.Marshal(object)
	return string(text), err
}

func unifiedDiff(fromName, toName, from, to string) string {
	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A:        slices.Collect(strings.Lines(from)),
		B:        slices.Collect(strings.Lines(to)),
		FromFile: fromName,
		ToFile:   toName,
		Context:  3,
	})
	if err != nil {
		return err.Error() // a strings.Builder never fails, so this cannot happen
	}
	return text
}
