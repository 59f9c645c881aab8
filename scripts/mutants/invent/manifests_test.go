package invent

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"go.yaml.in/yaml/v3"
)

const deployment = `kind: Deployment
metadata:
  name: web # of all
spec:
  replicas: 1
  containers:
  - name: web
    args:
    - --leader-elect
    - --level=2
    drop:
    - ALL
    description: what it is
  paused: false
  memory: 64Mi
`

// TestMutantsOfAManifest has mutants of each form, in the order of the lines.
func TestMutantsOfAManifest(t *testing.T) {
	mutants, err := manifestMutants("a.yaml", []byte(deployment))
	noError(t, err)
	var got []string
	for _, m := range mutants {
		got = append(got, m.String())
	}
	want := []string{
		"a.yaml:1 kind drop: kind: Deployment",
		"a.yaml:1 kind change: Deployment → other",
		"a.yaml:2 metadata drop: metadata: name: web # of all",
		"a.yaml:3 metadata.name drop: name: web # of all",
		"a.yaml:3 metadata.name change: web → other",
	}
	if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
		t.Errorf("got %s", strings.Join(got, "\n"))
	}
	for _, m := range []string{
		"a.yaml:5 spec.replicas change: 1 → 2",
		"a.yaml:5 spec.replicas change: 1 → 0",
		"a.yaml:9 spec.containers[0].args[0] drop: - --leader-elect",
		"a.yaml:12 spec.containers[0].drop[0] drop: - ALL",
		"a.yaml:14 spec.paused change: false → true",
		"a.yaml:15 spec.memory change: 64Mi → 640Mi",
	} {
		if !slices.Contains(got, m) {
			t.Errorf("there is no mutant %s", m)
		}
	}
	if slices.ContainsFunc(got, func(m string) bool { return strings.Contains(m, "description ") }) {
		t.Error("a description has mutants")
	}
}

// TestAManifestsMutantDiffersThereAlone compares what each mutant of these files says with what the file does.
func TestAManifestsMutantDiffersThereAlone(t *testing.T) {
	small, err := manifestMutants("a.yaml", []byte(deployment))
	noError(t, err)
	own, err := Manifests("../../..", "operator/config", 7, func(Mutant) bool { return true })
	if err != nil || len(own) < 500 || own[0].Number != 7 || own[len(own)-1].Number != 6+len(own) {
		t.Fatalf("%d mutants: %v", len(own), err)
	}
	names := map[string]bool{}
	for _, m := range slices.Concat(small, own) {
		if names[m.Name()] {
			t.Errorf("two mutants are called %s", m.Name())
		}
		names[m.Name()] = true
		before, after := leaves(t, m.edits[0].file.text), leaves(t, m.Text())
		if reflect.DeepEqual(before, after) {
			t.Errorf("%s changes nothing", m)
		}
		field := m.Function // without the document's kind
		if kind, rest, found := strings.Cut(m.Function, "."); found && unicode.IsUpper(rune(kind[0])) {
			field = rest
		}
		field, _, _ = strings.Cut(field, "[") // elements move up
		for path, value := range before {
			if _, at, _ := strings.Cut(path, "."); !strings.HasPrefix(at, field) && after[path] != value {
				t.Errorf("%s changes %s to %q", m, path, after[path])
			}
		}
		if lost := len(before) - len(after); m.Class == classChange && lost != 0 || lost < -1 {
			t.Errorf("%s loses %d leaves", m, lost)
		}
	}
}

// leaves are the scalars, and the empty collections, of YAML documents, by their paths.
func leaves(t *testing.T, text []byte) map[string]string {
	t.Helper()
	found := map[string]string{}
	var visit func(path string, node *yaml.Node)
	visit = func(path string, node *yaml.Node) {
		if len(node.Content) == 0 {
			found[path] = node.Value
		}
		for i := 0; i < len(node.Content); i++ {
			if node.Kind == yaml.MappingNode {
				visit(path+"."+keyed(node.Content[i].Value), node.Content[i+1])
				i++
			} else {
				visit(fmt.Sprintf("%s[%d]", path, i), node.Content[i])
			}
		}
	}
	for i, document := range strings.Split("\n"+string(text), "\n---\n") {
		var node yaml.Node
		if err := yaml.Unmarshal([]byte(document), &node); err != nil {
			t.Fatalf("%v in:\n%s", err, document)
		}
		if len(node.Content) > 0 {
			visit(strconv.Itoa(i), node.Content[0])
		}
	}
	return found
}
