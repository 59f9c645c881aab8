package scenarioyaml_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

// write creates a temporary folder with a scenario file and the files that it refers to. It returns the path of the
// scenario file.
func write(t *testing.T, text string) string {
	t.Helper()
	folder := t.TempDir()
	for name, content := range map[string]string{
		"scenarios.yaml": text,
		"role.yaml":      "kind: ClusterRole\n",
		"crds/crd.yaml":  "kind: CustomResourceDefinition\n",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, "scenarios.yaml")
}

const greeter = `
crds: [crds]
role: role.yaml
scenarios:
- name: greeter/create
  steps:
  - error: {apiVersion: v1, kind: ConfigMap, metadata: {name: hello}}
  - apply: {apiVersion: example.com/v1, kind: Greeter, metadata: {name: hello}, spec: {replicas: 2}}
  - assert: {apiVersion: apps/v1, kind: Deployment, metadata: {name: hello}, status: {readyReplicas: 2}}
  - delete: {apiVersion: example.com/v1, kind: Greeter, name: hello}
- name: greeter/nothing
  steps:
  - apply: {apiVersion: example.com/v1, kind: Greeter, metadata: {name: hello}}
`

func TestLoadReadsAFile(t *testing.T) {
	path := write(t, greeter)
	catalogue, err := scenarioyaml.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	expectEqual(t, "CRDs", catalogue.CRDs, []string{filepath.Join(filepath.Dir(path), "crds")})
	expectEqual(t, "role", []string{string(catalogue.Role)}, []string{"\n---\nkind: ClusterRole\n"})
	var names, kinds, steps, acts []string
	for _, s := range catalogue.Scenarios {
		names = append(names, s.Name)
		if s.Subject.String() != "example.com/v1, Kind=Greeter" {
			t.Errorf("the subject of %s is %s", s.Name, s.Subject)
		}
	}
	expectEqual(t, "names", names, []string{"greeter/create", "greeter/nothing"})
	for _, kind := range catalogue.Scenarios[0].Kinds {
		kinds = append(kinds, kind.Kind)
	}
	expectEqual(t, "kinds", kinds, []string{"Greeter", "ConfigMap", "Deployment"})
	for _, step := range catalogue.Scenarios[0].Steps {
		steps = append(steps, step.Name)
		if step.IsAction {
			acts = append(acts, step.Name)
		}
	}
	expectEqual(t, "steps", steps, []string{"Error(ConfigMap hello)", "Apply(Greeter hello)", "Assert(Deployment hello)", "Delete(Greeter hello)"})
	expectEqual(t, "acts", acts, []string{"Apply(Greeter hello)", "Delete(Greeter hello)"})
}

func expectEqual(t *testing.T, what string, is, should []string) {
	t.Helper()
	if !slices.Equal(is, should) {
		t.Errorf("%s: %q, not %q", what, is, should)
	}
}

func TestLoadRejectsInOneLine(t *testing.T) {
	one := func(steps string) string {
		return "crds: [crds]\nrole: role.yaml\nscenarios:\n- name: greeter/create\n  steps:\n" + steps
	}
	const apply = "  - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
	for name, bad := range map[string]struct{ text, complaint string }{
		"no YAML":               {"scenarios: [", "line 1"},
		"empty":                 {"# nothing\n", "the file is empty: give it settings or scenarios, or remove it"},
		"two documents":         {greeter + "---\n" + greeter, "2 documents: put all scenarios into one"},
		"a list":                {"- name: a\n", "want fields, got a list"},
		"an unknown key":        {"stories: []\n", `unknown field "stories": the fields are operator, main, install, manager, samples, arguments, env, beside, crds, role, scenarios`},
		"a key twice":           {"role: role.yaml\nrole: role.yaml\n", `key "role" already set`},
		"a key twice, merged":   {"<<: {main: a}\nrole: role.yaml\nrole: role.yaml\n", `line 3: mapping key "role" already defined`},
		"an anchor in itself":   {"env: &a {<<: {b: c}, a: *a}\n", "anchor 'a' value contains itself"},
		"a word for a list":     {"crds: crd.yaml\n", "crds: want a list, got text"},
		"a word for samples":    {"samples: config/samples\n", ": samples: want a list, got text"},
		"a number for a name":   {"main: 1\n", "main: want text, got a number"},
		"beside is no list":     {"beside: {deployment: webhook}\n", "beside: want a list, got fields"},
		"a word beside":         {"beside: [webhook]\n", "beside: want fields, got text"},
		"an unknown key beside": {"beside: [{deploiment: a}]\n", `beside: unknown field "deploiment": the fields are deployment, main, operator, arguments, env`},
		"no Deployment beside":  {"beside: [{main: ./cmd/a}]\n", "beside: no deployment: name the Deployment or StatefulSet that it is"},
		"no program beside":     {"beside: [{deployment: webhook}]\n", "beside: webhook: no program: give its main package as main, or its binary as operator"},
		"two programs beside":   {"beside: [{deployment: webhook, main: ./cmd/a, operator: bin/a}]\n", "beside: webhook: both main and operator: give one of them"},
		"a role that is absent": {strings.Replace(greeter, "role.yaml", "rule.yaml", 1), "role: open "},
		"a CRD that is absent":  {strings.Replace(greeter, "[crds]", "[crd.yaml]", 1), "crds: stat "},
		"no name":               {"role: role.yaml\nscenarios:\n- steps: []\n", "scenario 1: no name"},
		"a name in words":       {strings.Replace(greeter, "greeter/create", "create a greeter", 1), `create a greeter: name "create a greeter": no spaces and no quotes`},
		"a name twice":          {strings.Replace(greeter, "greeter/nothing", "greeter/create", 1), "scenario 2: greeter/create is the name of an earlier one"},
		"no steps":              {strings.Replace(one("[]\n"), "steps:\n", "steps: ", 1), "greeter/create: no steps"},
		"an unknown field":      {one(apply) + "  stpes: []\n", `greeter/create: unknown field "stpes": the fields are name, steps`},
		"nothing applied":       {one("  - error: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"), "greeter/create: it changes nothing: give it an apply or a script step"},
		"an unknown action":     {one(apply + "  - asert: {}\n"), "greeter/create: step 2: asert is no action: a step is one of apply, patch, assert, error, delete, script, converged"},
		"two actions":           {one("  - apply: {}\n    error: {}\n"), "greeter/create: step 1: 2 actions (apply, error): give each a step of its own"},
		"no action":             {one(apply + "  - {}\n"), "greeter/create: step 2: no action"},
		"a word for an object":  {one("  - apply: hello\n"), "greeter/create: step 1: want fields, got text"},
		"no object":             {one("  - apply:\n"), "greeter/create: step 1: apply needs apiVersion, kind, metadata.name"},
		"no apiVersion":         {one("  - apply: {kind: ConfigMap, metadata: {name: a}}\n"), "step 1: apply needs apiVersion"},
		"no kind":               {one(apply + "  - assert: {apiVersion: v1, metadata: {name: a}}\n"), "step 2: assert needs kind"},
		"no metadata.name":      {one("  - apply: {apiVersion: v1, kind: ConfigMap, name: a}\n"), "step 1: apply needs metadata.name"},
		"a name that is none":   {one("  - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: 1}}\n"), "step 1: apply needs metadata.name"},
		"no name to delete":     {one(apply + "  - delete: {apiVersion: v1, kind: ConfigMap}\n"), "step 2: delete needs name"},
		"too much to delete":    {one(apply + "  - delete: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"), "step 2: delete takes apiVersion, kind and name, not metadata"},
		"no group and version":  {one("  - apply: {apiVersion: a/b/c, kind: ConfigMap, metadata: {name: a}}\n"), "step 1: unexpected GroupVersion string: a/b/c"},
		"absent":                {one(apply + "  - absent: {apiVersion: v1, kind: ConfigMap, name: a}\n"), "step 2: absent is no action: write error: {apiVersion, kind, metadata: {name}}"},
		"a sleep":               {one(apply + "  - sleep: {duration: 5s}\n"), "step 2: sleep is no action: assert the state that it waits for"},
		"no name of an error":   {one(apply + "  - error: {apiVersion: v1, kind: ConfigMap, name: a}\n"), "step 2: error needs metadata.name"},
		"an empty script":       {one(apply + "  - script: {content: \" \"}\n"), "step 2: script needs content, as text that is not empty"},
		"a script's check":      {one(apply + "  - script: {content: ls, check: {}}\n"), `step 2: script: unknown field "check": the fields are content, timeout, env, skipLogOutput`},
		"a timeout":             {one(apply + "  - script: {content: ls, timeout: \"5\"}\n"), `step 2: script: timeout "5" is no time: give one such as 30s`},
		"a number for a time":   {one(apply + "  - script: {content: ls, timeout: 5}\n"), "step 2: script: timeout: want text, got a number"},
		"no time at all":        {one(apply + "  - script: {content: ls, timeout: 0s}\n"), `step 2: script: timeout "0s" is no time`},
		"a map of variables":    {one(apply + "  - script: {content: ls, env: {A: b}}\n"), "step 2: script: env: want a list, got fields"},
		"a variable's number":   {one(apply + "  - script: {content: ls, env: [{name: A, value: 1}]}\n"), "step 2: script: env.value: want text, got a number"},
		"no variable's name":    {one(apply + "  - script: {content: ls, env: [{value: b}]}\n"), "step 2: script: env: a variable needs a name"},
		"a word for a bool":     {one(apply + "  - script: {content: ls, skipLogOutput: yes please}\n"), "step 2: script: skipLogOutput: want true or false, got text"},
		"a namespace":           {one("  - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}\n"), "step 1: apply names a namespace: leave it out"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, bad.text)
			_, err := scenarioyaml.Load(path)
			if err == nil {
				t.Fatal("it is taken")
			}
			t.Log(err)
			if !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), bad.complaint) || strings.Contains(err.Error(), "\n") {
				t.Errorf("this does not say %q in one line that begins with the file: %v", bad.complaint, err)
			}
		})
	}
}

func TestPathsOfWhatRunsBesideAreRelativeToTheFile(t *testing.T) {
	path := write(t, "beside:\n- {deployment: a, main: cmd/a, arguments: [-v], env: {A: b}}\n- {deployment: b, operator: bin/b}\n")
	catalogue, err := scenarioyaml.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Dir(path)
	want := []scenarioyaml.Beside{
		{Deployment: "a", Main: folder + "/cmd/a", Arguments: []string{"-v"}, Env: map[string]string{"A": "b"}},
		{Deployment: "b", Operator: folder + "/bin/b"},
	}
	if !reflect.DeepEqual(catalogue.Beside, want) {
		t.Errorf("%+v, not %+v", catalogue.Beside, want)
	}
}

func TestLoadNamesAMissingFile(t *testing.T) {
	_, err := scenarioyaml.Load("no/such.yaml")
	if err == nil || err.Error() != "open no/such.yaml: no such file or directory" {
		t.Errorf("%v", err)
	}
}

func TestAKeyOverridesAMergedOne(t *testing.T) {
	for text, want := range map[string]string{
		"a: &a {x: 1, p: &p [2]}\nb: {<<: *a, x: 3}\n":                            `{"a":{"p":[2],"x":1},"b":{"p":[2],"x":3}}`,
		"a: &a {x: 1}\nb: &b {<<: *a, p: 2}\nc: {<<: [*b, {x: 5, z: 6}], p: 7}\n": `{"a":{"x":1},"b":{"p":2,"x":1},"c":{"p":7,"x":1,"z":6}}`,
		"a: &a\n  labels: &l {scaled: \"yes\"}\nb:\n  <<: *a\n  more: *l\n":       `{"a":{"labels":{"scaled":"yes"}},"b":{"labels":{"scaled":"yes"},"more":{"scaled":"yes"}}}`,
		"a: &a {x: 1, z: null}\nb: {x: null, <<: *a}\n":                           `{"a":{"x":1,"z":null},"b":{"x":null,"z":null}}`,
	} {
		document, err := scenarioyaml.ToJSON([]byte(text))
		if err != nil || string(document) != want {
			t.Errorf("%s: %s, %v", text, document, err)
		}
	}
}

func TestAMergeKeyChangesNoOtherValue(t *testing.T) {
	const fields = `is: yes, text: "on", day: 2001-01-01, mode: 0644, id: 9007199254740993, more: 1e3, none: , list: [~]}`
	want, err := scenarioyaml.ToJSON([]byte("{" + fields))
	if err != nil {
		t.Fatal(err)
	}
	if document, err := scenarioyaml.ToJSON([]byte("{<<: {}, " + fields)); err != nil || string(document) != string(want) {
		t.Errorf("%s, not %s: %v", document, want, err)
	}
}

func TestASteppedCatalogueIsCoveredWhereItBeginsAlike(t *testing.T) {
	const apply = "{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: VALUE}}}, {converged: {}}"
	one, two := strings.Replace(apply, "VALUE", "one", 1), strings.Replace(apply, "VALUE", "two", 1)
	catalogue, err := scenarioyaml.Load(write(t, "scenarios:\n- {name: a/create, steps: ["+one+"]}\n- {name: a/change, steps: ["+one+","+two+"]}\n- {name: a/other, steps: ["+two+"]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 2, 0} {
		if s := catalogue.Scenarios[i]; s.Covered != want {
			t.Errorf("%d steps of %s are covered, not %d", s.Covered, s.Name, want)
		}
	}
}

func TestAScriptMayBeAllThatActs(t *testing.T) {
	parsed, err := scenarioyaml.Parse(scenarioyaml.Document{Name: "a/b", Steps: []map[string]map[string]any{{"script": {"content": "true"}}, {"converged": {}}}})
	if err != nil {
		t.Fatal(err)
	}
	if s := parsed[0]; !s.Subject.Empty() || len(s.Kinds) > 0 {
		t.Errorf("its subject is %v, its kinds are %v", s.Subject, s.Kinds)
	}
}
