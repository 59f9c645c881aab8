package oracle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/test/harness/diff"
)

// Diff returns how two snapshots differ, as a unified diff for each object: lines with - are in want alone, those
// with + in got alone. It is empty when the snapshots are equal.
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
		case wanted != gotten && withoutMessages(wanted) != withoutMessages(gotten):
			out.WriteString(diff.Unified("want "+key, "got "+key, asYAML(wanted), asYAML(gotten)))
		}
	}
	return out.String()
}

func asYAML(json string) string {
	text, err := yaml.JSONToYAML([]byte(json))
	if err != nil {
		return json // raw JSON is better than nothing
	}
	return string(text)
}
