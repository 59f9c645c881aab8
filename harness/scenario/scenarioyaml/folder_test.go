package scenarioyaml_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

// writeFolder writes files into a new folder called greeter.
func writeFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "greeter")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

const (
	greeterYAML    = "{apiVersion: example.com/v1, kind: Greeter, metadata: {name: hello, namespace: default}, spec: {replicas: 2}}\n"
	deploymentYAML = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: hello}, status: {readyReplicas: 2}}\n"
	secretYAML     = "{apiVersion: v1, kind: Secret, metadata: {name: hello}}\n"
)

// loadFolder loads a test of another tool.
func loadFolder(t *testing.T, files map[string]string) scenario.Scenario {
	t.Helper()
	s, err := scenarioyaml.LoadFolder(writeFolder(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// expectSteps loads a test of another tool, and compares the names of its steps.
func expectSteps(t *testing.T, files map[string]string, want ...string) scenario.Scenario {
	t.Helper()
	s := loadFolder(t, files)
	var steps []string
	for _, step := range s.Steps {
		steps = append(steps, step.Name)
	}
	expectEqual(t, "steps", steps, want)
	if s.Name != "test/greeter" {
		t.Errorf("it is called %s", s.Name)
	}
	return s
}

// refusal is a test of another tool that cannot be played, and what the one line says about it.
type refusal struct {
	files map[string]string
	says  string
}

func expectRefused(t *testing.T, refusals map[string]refusal) {
	t.Helper()
	for name, test := range refusals {
		t.Run(name, func(t *testing.T) {
			folder := writeFolder(t, test.files)
			_, err := scenarioyaml.LoadFolder(folder)
			if err == nil || !strings.HasPrefix(err.Error(), folder+": ") || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
				t.Error(err)
			}
		})
	}
}

func TestAFolderWithoutATestIsRefused(t *testing.T) {
	expectRefused(t, map[string]refusal{
		"nothing": {nil, "it holds neither chainsaw-test.yaml nor files such as 00-install.yaml"},
	})
}
