package scenarioyaml_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

func write(t *testing.T, text string) string {
	t.Helper()
	folder := t.TempDir()
	err := os.CopyFS(folder, fstest.MapFS{
		"scenarios.yaml": {Data: []byte(text)},
		"role.yaml":      {Data: []byte("kind: ClusterRole\n")},
		"crds/crd.yaml":  {Data: []byte("kind: CustomResourceDefinition\n")},
	})
	noError(t, err)
	return filepath.Join(folder, "scenarios.yaml")
}

func load(t *testing.T, path string) *scenarioyaml.File {
	t.Helper()
	catalogue, err := scenarioyaml.Load(path)
	noError(t, err)
	return catalogue
}

const greeter = `
crds: [crds]
role: [role.yaml]
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
	file := load(t, path)
	folder := filepath.Dir(path)
	first, second := file.Scenarios[0], file.Scenarios[1]
	got := [][]string{file.CRDs, file.Role, {first.Name, second.Name, first.Subject.Kind, second.Subject.Kind}, nil, nil}
	for _, kind := range first.Kinds {
		got[3] = append(got[3], kind.Kind)
	}
	for _, step := range first.Steps {
		got[4] = append(got[4], fmt.Sprintf("%s %t", step.Name, step.IsAction))
	}
	want := [][]string{
		{filepath.Join(folder, "crds")}, {filepath.Join(folder, "role.yaml")},
		{"greeter/create", "greeter/nothing", "Greeter", "Greeter"},
		{"Greeter", "ConfigMap", "Deployment"},
		{"Error(ConfigMap hello) false", "Apply(Greeter hello) true", "Assert(Deployment hello) false", "Delete(Greeter hello) true"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestInvalidFileIsRejected(t *testing.T) {
	one := func(steps string) string {
		return "crds: [crds]\nrole: [role.yaml]\nscenarios:\n- name: greeter/create\n  steps:\n" + steps
	}
	const apply = "  - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"
	for name, bad := range map[string]struct{ text, complaint string }{
		"invalid YAML":               {"scenarios: [", "line 1"},
		"two documents":              {greeter + "---\n" + greeter, "several documents: put all scenarios into a single document"},
		"list":                       {"- name: a\n", "want fields, got a list"},
		"unknown key":                {"stories: []\n", `unknown field "stories": the fields are operator, main, install, manager, samples, arguments, env, companions, crds, role, scenarios`},
		"duplicate key":              {"role: [role.yaml]\nrole: [role.yaml]\n", `key "role" already set`},
		"overridden merged key":      {"env: {<<: {A: b}, A: c}\n", `key "A" already set`},
		"recursive anchor":           {"env: &a {<<: {b: c}, a: *a}\n", "anchor 'a' value contains itself"},
		"CRDs as text":               {"crds: crd.yaml\n", "crds: want a list, got text"},
		"number instead of text":     {"main: 1\n", "main: want text, got a number"},
		"manager with unknown key":   {"companions: [{deploiment: a}]\n", `unknown field "deploiment": the fields are deployment, main, operator, arguments, env`},
		"manager without Deployment": {"companions: [{main: ./cmd/a}]\n", "companions: no deployment: "},
		"manager without program":    {"companions: [{deployment: webhook}]\n", "webhook: no program: set main"},
		"manager with two programs":  {"companions: [{deployment: webhook, main: ./cmd/a, operator: bin/a}]\n", "webhook: both main and operator"},
		"no name":                    {"role: [role.yaml]\nscenarios:\n- steps: []\n", "scenario 1: no name"},
		"name with spaces":           {strings.Replace(greeter, "greeter/create", "create a greeter", 1), `create a greeter: invalid name "create a greeter"`},
		"duplicate name":             {strings.Replace(greeter, "greeter/nothing", "greeter/create", 1), "scenario 2: an earlier scenario is also named greeter/create"},
		"no steps":                   {strings.Replace(one("[]\n"), "steps:\n", "steps: ", 1), "greeter/create: no steps"},
		"unknown field":              {one(apply) + "  stpes: []\n", `greeter/create: unknown field "stpes": the fields are name, steps`},
		"no change":                  {one("  - error: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"), "greeter/create: no step creates an object: add an apply or a script step"},
		"unknown action":             {one(apply + "  - asert: {}\n"), `greeter/create: step 2: unknown action "asert": use one of apply, patch, assert, error, delete, script, converged`},
		"action without fields":      {one(apply + "  - converged\n"), "greeter/create: step 2: want fields, got text"},
		"script as text":             {one(apply + "  - script: ls\n"), "greeter/create: step 2: want fields, got text"},
		"two actions":                {one("  - apply: {}\n    error: {}\n"), "greeter/create: step 1: 2 actions (apply, error)"},
		"no action":                  {one(apply + "  - {}\n"), `greeter/create: step 2: no action: use one of apply`},
		"no object":                  {one("  - apply:\n"), "greeter/create: step 1: apply: apiVersion, kind and metadata.name must be non-empty strings"},
		"object without name":        {one("  - patch: {apiVersion: v1, kind: ConfigMap, metadata: {labels: {a: b}}}\n"), "step 1: patch: apiVersion, kind and metadata.name must be"},
		"object with namespace":      {one("  - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}\n"), "step 1: apply: the object has a namespace: remove it"},
		"delete without name":        {one(apply + "  - delete: {apiVersion: v1, kind: ConfigMap}\n"), "step 2: delete: apiVersion, kind and name must be"},
		"delete with metadata":       {one(apply + "  - delete: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n"), `step 2: delete: unknown field "metadata": the fields are apiVersion, kind, name`},
		"invalid apiVersion":         {one("  - apply: {apiVersion: a/b/c, kind: ConfigMap, metadata: {name: a}}\n"), "step 1: apply: unexpected GroupVersion string: a/b/c"},
		"converged with fields":      {one(apply + "  - converged: {a: b}\n"), "step 2: converged: the step has no fields: write `converged: {}`"},
		"empty script":               {one(apply + "  - script: {content: \" \"}\n"), "step 2: script: content must be a non-empty string"},
		"script with unknown field":  {one(apply + "  - script: {content: ls, check: {}}\n"), `step 2: script: unknown field "check": the fields are content, timeout, env, skipLogOutput`},
		"timeout without unit":       {one(apply + "  - script: {content: ls, timeout: \"5\"}\n"), `step 2: script: invalid timeout "5": use a positive duration such as 30s`},
		"timeout of zero":            {one(apply + "  - script: {content: ls, timeout: 0s}\n"), `step 2: script: invalid timeout "0s": use a positive duration such as 30s`},
		"number as value":            {one(apply + "  - script: {content: ls, env: [{name: A, value: 1}]}\n"), "step 2: script: env.value: want text, got a number"},
		"variable without name":      {one(apply + "  - script: {content: ls, env: [{value: b}]}\n"), "step 2: script: env: a variable has no name"},
		"text as boolean":            {one(apply + "  - script: {content: ls, skipLogOutput: yes please}\n"), "step 2: script: skipLogOutput: want true or false, got text"},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, bad.text)
			_, err := scenarioyaml.Load(path)
			if err == nil {
				t.Fatalf("got no error, want %q", bad.complaint)
			}
			t.Log(err)
			if !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), bad.complaint) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got error %q, want a single line with the file name and %q", err, bad.complaint)
			}
		})
	}
}

func TestValidFileIsAccepted(t *testing.T) {
	naive, err := os.ReadFile("../../../test/fixtures/naive/scenarios.yaml")
	noError(t, err)
	for name, text := range map[string]string{
		"naive operator": strings.NewReplacer("config/crd/bases", "crds", "config/rbac/", "").Replace(string(naive)),
		"merge keys":     "scenarios: [{name: a/b, steps: [{apply: &a {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}, {apply: {<<: *a, data: {b: c}}}]}]",
		"settings":       "{main: ./cmd, install: config, manager: m, samples: [a], arguments: [-v], env: {A: b}, operator: c, crds: [crds], role: [role.yaml]}",
		"all actions": `
scenarios:
- name: a/b
  steps:
  - apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
  - patch: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
  - assert: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
  - delete: {apiVersion: v1, kind: ConfigMap, name: a-*}
  - error: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {b: c}}
  - script: {content: ls, timeout: 1m, env: [{name: A, value: b}], skipLogOutput: true}
  - converged: {}
`,
	} {
		t.Run(name, func(t *testing.T) {
			load(t, write(t, text))
		})
	}
}

func TestManagerPathsAreRelativeToFile(t *testing.T) {
	path := write(t, "companions:\n- {deployment: a, main: cmd/a, arguments: [-v], env: {A: b}}\n- {deployment: b, operator: bin/b}\n")
	catalogue := load(t, path)
	folder := filepath.Dir(path)
	want := []scenarioyaml.Companion{
		{Deployment: "a", Main: folder + "/cmd/a", Arguments: []string{"-v"}, Env: map[string]string{"A": "b"}},
		{Deployment: "b", Operator: folder + "/bin/b"},
	}
	if !reflect.DeepEqual(catalogue.Companions, want) {
		t.Errorf("got managers %+v, want %+v", catalogue.Companions, want)
	}
}

func TestCoveredCountsCommonFirstSteps(t *testing.T) {
	const apply = "{apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: VALUE}}}, {converged: {}}"
	one, two := strings.Replace(apply, "VALUE", "one", 1), strings.Replace(apply, "VALUE", "two", 1)
	catalogue := load(t, write(t, "scenarios:\n- {name: a/create, steps: ["+one+"]}\n- {name: a/change, steps: ["+one+","+two+"]}\n- {name: a/other, steps: ["+two+"]}\n"))
	for i, want := range []int{0, 2, 0} {
		if s := catalogue.Scenarios[i]; s.Covered != want {
			t.Errorf("covered steps of %s: got %d, want %d", s.Name, s.Covered, want)
		}
	}
}
