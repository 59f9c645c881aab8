package oracle

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/diff"
)

// Diff returns how two snapshots differ, as a unified diff for each object, with the fields that differ: lines with - are
// in want alone, those with + in got alone. It is empty when the snapshots are equal.
func Diff(want, got Snapshot) string {
	var out strings.Builder
	for _, key := range diff.Keys(want, got) {
		wanted, inWant := want[key]
		gotten, inGot := got[key]
		switch {
		case !inGot:
			fmt.Fprintf(&out, "- %s is missing\n", key)
		case !inWant:
			fmt.Fprintf(&out, "+ %s is too many\n", key)
		case wanted != gotten && withoutMessages(wanted) != withoutMessages(gotten): // most are equal, and not parsed
			fields := strings.Join(differing(withoutMessages(wanted), withoutMessages(gotten)), ", ")
			out.WriteString(diff.Unified("want "+key, "got "+key+" (differs in "+fields+")", asYAML(wanted), asYAML(gotten)))
		}
	}
	return out.String()
}

// maxDiffering is how many fields of fields are named.
const maxDiffering = 3

// differing names what differs between two objects: up to maxDiffering fields such as spec.replicas, or else those that
// hold them.
func differing(want, got string) []string {
	wanted, _ := parsed(want).(map[string]any)
	gotten, _ := parsed(got).(map[string]any)
	outer := differingKeys(wanted, gotten)
	var inner []string
	for _, field := range outer {
		keys := differingKeys(wanted[field], gotten[field])
		for _, key := range keys {
			inner = append(inner, field+"."+key)
		}
		if len(keys) == 0 {
			inner = append(inner, field)
		}
	}
	if len(inner) <= maxDiffering {
		return inner
	}
	return outer
}

// differingKeys are those whose values differ, sorted; none if the two are not both maps.
func differingKeys(one, two any) []string {
	first, isMap := one.(map[string]any)
	second, areMaps := two.(map[string]any)
	if !isMap || !areMaps {
		return nil
	}
	return slices.DeleteFunc(diff.Keys(first, second), func(key string) bool { return reflect.DeepEqual(first[key], second[key]) })
}

func asYAML(json string) string {
	text, err := yaml.JSONToYAML([]byte(json))
	if err != nil {
		return json // raw JSON is better than nothing
	}
	return string(text)
}
