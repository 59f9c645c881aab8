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

// Difference is an object that two snapshots do not have alike.
type Difference struct {
	// Kind is the object's kind without its group.
	Kind string
	// Name is the object's name, without the number of an object whose name differs from run to run. If the object is only in got
	// and its name ends with a hash, a * stands for the hash: there are as many as there were tries, each with another one.
	Name          string
	InWant, InGot bool
	// Fields are the fields that differ, if both have the object.
	Fields []string
	// Text is the difference as one or more lines: those with - are only in want, those with + only in got.
	Text string
}

var (
	numbered = regexp.MustCompile(` #\d+$`)
	// hashed ends a name with a hash in the letters that Kubernetes uses for hashes, and the number of a revision.
	hashed = regexp.MustCompile(`-[4-9bcdf]{8,10}(-\d+)?$`)
)

// Differences returns how two snapshots differ, object by object; none if they are equal.
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
			d.Text = fmt.Sprintf("+ %s is too many\n", key)
		case wanted != gotten && withoutMessages(wanted) != withoutMessages(gotten): // most are equal, and not parsed
			d.Fields = differing(withoutMessages(wanted), withoutMessages(gotten))
			d.Text = diff.Unified("want "+key, "got "+key+" (differs in "+strings.Join(d.Fields, ", ")+")", asYAML(wanted), asYAML(gotten))
		default:
			continue
		}
		all = append(all, d)
	}
	return all
}

// Diff returns how two snapshots differ as text: the differences one after another. It is empty if the snapshots are equal.
func Diff(want, got Snapshot) string {
	var out strings.Builder
	for _, d := range Differences(want, got) {
		out.WriteString(d.Text)
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
