package scenarioyaml_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operator-assay/assay/test/harness/scenario/scenarioyaml"
)

// writeFolder writes files into a new folder called greeter.
func writeFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "greeter")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

const (
	greeterYAML    = "{apiVersion: example.com/v1, kind: Greeter, metadata: {name: hello, namespace: default}, spec: {replicas: 2}}\n"
	deploymentYAML = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: hello}, status: {readyReplicas: 2}}\n"
	goneYAML       = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: hello}}\n"
)

func TestTestsOfOtherToolsAreScenarios(t *testing.T) {
	const want = "Apply(Greeter hello) Converged Assert(Deployment hello) Delete(Greeter hello) Converged Absent(Deployment hello)"
	chainsaw := map[string]string{"greeter.yaml": greeterYAML, "chainsaw-test.yaml": `
apiVersion: chainsaw.kyverno.io/v1alpha1
kind: Test
metadata: {name: greeter}
spec:
  steps:
  - try:
    - description: install
      apply: {file: greeter.yaml}
    - assert: {resource: ` + deploymentYAML + `}
  - try:
    - delete: {ref: {apiVersion: example.com/v1, kind: Greeter, name: hello}}
    - error: {resource: ` + goneYAML + `}
`}
	kuttl := map[string]string{"00-install.yaml": greeterYAML, "00-assert.yaml": deploymentYAML, "01-errors.yaml": "{apiVersion: v1, kind: Secret, metadata: {name: hello}}\n"}
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"Chainsaw": {chainsaw, want},
		"KUTTL":    {kuttl, "Apply(Greeter hello) Converged Assert(Deployment hello) Absent(Secret hello)"},
	} {
		s, err := scenarioyaml.LoadFolder(writeFolder(t, test.files))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var steps []string
		for _, step := range s.Steps {
			steps = append(steps, step.Name)
		}
		if got := strings.Join(steps, " "); got != test.want || s.Name != "test/greeter" || s.Subject.Kind != "Greeter" {
			t.Errorf("%s: %s about %s: %s", name, s.Name, s.Subject.Kind, got)
		}
	}
}

func TestWhatATestNeedsOfItsOwnToolIsOneLine(t *testing.T) {
	try := func(operation string) map[string]string {
		return map[string]string{"chainsaw-test.yaml": "spec: {steps: [{try: [" + operation + "]}]}\n"}
	}
	for name, test := range map[string]struct {
		files map[string]string
		says  string
	}{
		"nothing":          {nil, "it holds neither chainsaw-test.yaml nor files such as 00-install.yaml"},
		"a sleep":          {try("{sleep: {duration: 5s}}"), "step 1: sleep: a time proves nothing"},
		"a script":         {try("{script: {content: ls}}"), "script: there is no such step here: run the test by its own tool with --test"},
		"an expression":    {try("{assert: {resource: {apiVersion: v1, kind: Pod, metadata: {name: a}, (status.phase): Running}}}"), "the expression (status.phase) is not evaluated here"},
		"an error in part": {try("{error: {resource: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {}}}}"), "Pod a has spec: here an object can only be absent as a whole"},
		"no file":          {try("{apply: {file: none.yaml}}"), "none.yaml: no such file"},
		"a KUTTL step":     {map[string]string{"00-step.yaml": "{apiVersion: kuttl.dev/v1beta1, kind: TestStep}\n"}, "00-step.yaml: a TestStep has no counterpart here"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := writeFolder(t, test.files)
			_, err := scenarioyaml.LoadFolder(folder)
			if err == nil || !strings.HasPrefix(err.Error(), folder+": ") || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
				t.Error(err)
			}
		})
	}
}
