package subject

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operator-assay/assay/harness/invent"
	"github.com/operator-assay/assay/harness/scenario"
)

// newProject creates a project and changes into its directory. changes contains the files that differ from the default
// project. An empty string removes a file.
func newProject(t *testing.T, changes map[string]string) {
	t.Helper()
	files := map[string]string{
		"go.mod":                            "module example.com/operator\n\ngo 1.26\n",
		"cmd/main.go":                       "package main\n\nfunc main() {}\n",
		"config/default/kustomization.yaml": "resources: [install.yaml]\n",
		"config/default/install.yaml": `
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: greeters.example.com}, spec: {group: example.com, names: {kind: Greeter}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: controller-manager}, spec: {template: {spec: {containers: [{name: manager, args: [--leader-elect]}]}}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: manager}, rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: manager}, roleRef: {kind: ClusterRole, name: manager}, subjects: [{kind: ServiceAccount, name: default}]}
`,
		"config/samples/greeter.yaml": "{apiVersion: example.com/v1, kind: Greeter, metadata: {name: hello}}\n",
	}
	maps.Copy(files, changes)
	t.Chdir(t.TempDir())
	for name, text := range files {
		if text != "" {
			write(t, ".", name, text)
		}
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	noError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)))
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRejectionsAreInputErrors(t *testing.T) {
	s := &Subject{operator: &Program{Binary: "/bin/manager", Given: "/bin/manager", arguments: []string{"--leader-elect"}}, options: Options{Scenarios: make([]scenario.Scenario, 1)}}
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "CustomResourceDefinition"}, "greeters.example.com", nil)
	for name, test := range map[string]struct {
		err     error
		isUsage bool
		says    string
	}{
		"rejected CRD":     {planeError(fmt.Errorf("unable to create CRDs: %w", invalid)), true, "the API server rejects a CRD: CustomResourceDefinition"},
		"no control plane": {planeError(errors.New("etcd died")), false, "etcd died"},
		"rejected sample":  {s.Explain(fmt.Errorf("sample.yaml: %w", invent.RefusedError{})), true, "sample.yaml: "},
		"failing operator": {s.Explain(errors.New("it exited\nits log\n\n")), false,
			"it exited\nits log\neach test must pass without faults and use the environment variables KUBECONFIG and NAMESPACE; the operator was started as: /bin/manager --leader-elect; arguments after --"},
		"operator that needs another system": {s.Explain(errors.New("dial tcp 192.0.2.7:5432: connect: network is unreachable")), false,
			"dial tcp 192.0.2.7:5432: connect: network is unreachable\nthe operator can only connect to the API server: use arguments, or env in assay.yaml, to disable its dependencies on other systems; each test must"},
		"operator in another language": {s.Explain(errors.New("OSError: [Errno 101] Network is unreachable")), false,
			"OSError: [Errno 101] Network is unreachable\nthe operator can only connect to the API server: "},
		"operator without a module": {s.Explain(errors.New("ModuleNotFoundError: kopf")), false, "ModuleNotFoundError: kopf\neach test must"},
		"operator that resolves a name": {s.Explain(errors.New("dial tcp: lookup db on 127.0.0.53:53: connection refused")), false,
			"dial tcp: lookup db on 127.0.0.53:53: connection refused\nthe operator can only connect to the API server: "},
	} {
		_, isUsage := errors.AsType[InputError](test.err)
		if isUsage != test.isUsage || !strings.HasPrefix(test.err.Error(), test.says) {
			t.Errorf("%s: got InputError %t, want %t: %v", name, isUsage, test.isUsage, test.err)
		}
	}
}

func TestReadProjectInOtherFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the go command")
	}
	newProject(t, map[string]string{"assay.yaml": "main: ./cmd\narguments: [--of-the-file]\n", "extra/more.yaml": "{apiVersion: example.com/v1, kind: Greeter, metadata: {name: more}}\n"})
	folder, err := os.Getwd()
	noError(t, err)
	t.Chdir(t.TempDir())
	for _, samples := range [][]string{nil, {"extra"}} {
		s, err := Read(t.Context(), Options{Folder: folder, Samples: samples})
		noError(t, err)
		t.Cleanup(s.Close)
		noError(t, s.Build(t.Context(), nil))
		if len(s.samples) != 1 || s.Name() != filepath.Base(folder) || !slices.Equal(s.operator.container("run", "").Arguments, []string{"--of-the-file"}) {
			t.Errorf("got %+v", s)
		}
	}
	here, err := os.Getwd()
	noError(t, err)
	relative, err := filepath.Rel(here, folder)
	noError(t, err)
	s, err := Read(t.Context(), Options{Folder: relative})
	noError(t, err)
	noError(t, s.Build(t.Context(), nil))
	s.Close()
}

func TestFlagsOverrideFileAndManifests(t *testing.T) {
	read := func(o Options) *Subject {
		t.Helper()
		s, err := Read(t.Context(), o)
		noError(t, err)
		t.Cleanup(s.Close)
		return s
	}
	newProject(t, nil)
	if got := read(Options{}).operator.container("run", "").Arguments; !slices.Equal(got, []string{"--leader-elect"}) {
		t.Errorf("got arguments %q, want the arguments of the Deployment", got)
	}
	noError(t, os.WriteFile("assay.yaml", []byte("arguments: [--of-the-file]\nenv: {LEVEL: high}\n"), 0o644))
	c := read(Options{}).operator.container("run", "")
	if !slices.Equal(c.Arguments, []string{"--of-the-file"}) || !slices.Equal(c.Env, []string{"LEVEL=high"}) {
		t.Errorf("got arguments %q and variables %q, want the settings of the file", c.Arguments, c.Env)
	}
	if got := read(Options{Arguments: []string{}}).operator.container("run", "").Arguments; len(got) != 0 {
		t.Errorf("got arguments %q, want none", got)
	}
}
