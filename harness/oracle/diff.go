package oracle

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/diff"
)

// Difference is an object that differs between two snapshots.
type Difference struct {
	Kind string
	// Name is the object's name, without the number that a Snapshot appends if several objects have the same name. A
	// trailing hash of an unexpected object is replaced with *, because retries may create different ones.
	Name          string
	InWant, InGot bool
	// Fields contains the fields that differ. It is empty if one of the snapshots does not contain the object.
	Fields []string
	// Text describes the difference in one or more lines. Lines with - are only in want, and lines with + only in got.
	Text string
}

var (
	numbered = regexp.MustCompile(` #\d+$`)
	// hashed matches a hash in the alphabet that Kubernetes uses, optionally followed by a revision number.
	hashed = regexp.MustCompile(`-[4-9bcdf]{8,10}(-\d+)?$`)
)

// Differences returns the differences between two snapshots. It ignores the messages of conditions.
func Differences(want, got Snapshot) []Difference {
	var all []Difference
	for _, key := range diff.Keys(want, got) {
		wanted, inWant := want[key]
		gotten, inGot := got[key]
		kind, name, _ := strings.Cut(key, "/")
		kind, _, _ = strings.Cut(kind, ".")
		d := Difference{Kind: kind, Name: numbered.ReplaceAllString(name, ""), InWant: inWant, InGot: inGot}
		switch {
		case !inGot:
			d.Text = fmt.Sprintf("- %s is missing\n", key)
		case !inWant:
			d.Name = hashed.ReplaceAllString(d.Name, "-*")
			d.Text = fmt.Sprintf("+ %s is unexpected\n", key)
		case wanted != gotten && withoutMessages(wanted) != withoutMessages(gotten): // parsing is slow, and most objects are equal
			d.Fields = differing(withoutMessages(wanted), withoutMessages(gotten))
			d.Text = diff.Unified("want "+key, "got "+key+" (differs in "+strings.Join(d.Fields, ", ")+")", asYAML(wanted), asYAML(gotten))
		default:
			continue
		}
		all = append(all, d)
	}
	return all
}

// Diff returns the result of Differences as text, or an empty string if there are no differences.
func Diff(want, got Snapshot) string {
	var out strings.Builder
	for _, d := range Differences(want, got) {
		out.WriteString(d.Text)
	}
	return out.String()
}

const maxDiffering = 3

// differing returns the names of the fields that differ, such as spec.replicas. If there are more than maxDiffering
// of them, it returns the top-level fields.
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
		return json // fall back to raw JSON
	}
	return string(text)
}
