// Package scripts tests that the gate job in CI requires every other job, and that all files use the same versions.
package scripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const gateFile = ".github/workflows/ci.yaml"

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

type workflow struct {
	Jobs map[string]struct {
		Needs    any    `json:"needs"`
		If       string `json:"if"`
		Strategy struct {
			Matrix struct {
				Kubernetes []string            `json:"kubernetes"`
				Include    []map[string]string `json:"include"`
			} `json:"matrix"`
		} `json:"strategy"`
		Steps []struct {
			Run string `json:"run"`
		} `json:"steps"`
	} `json:"jobs"`
}

func readGate(t *testing.T) (w workflow) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(read(t, gateFile)), &w); err != nil {
		t.Fatalf("%s: %v", gateFile, err)
	}
	return w
}

// A job that the gate does not require could fail, and the gate would still pass.
func TestGateRequiresEveryJob(t *testing.T) {
	const ruleset, required = ".github/rulesets/main.json", `"required_status_checks": [{ "context": "gate", "integration_id": 15368 }]`
	if !strings.Contains(read(t, ruleset), required) {
		t.Errorf("%s does not require the check gate of GitHub Actions: want %s", ruleset, required)
	}
	jobs := readGate(t).Jobs
	gate := jobs["gate"]
	needs := strings.Fields(strings.Trim(fmt.Sprint(gate.Needs), "[]"))
	for id := range jobs {
		if id != "gate" && !slices.Contains(needs, id) {
			t.Errorf("the gate does not need %s", id)
		}
	}
	if gate.If != "always()" {
		t.Errorf("got condition %q of the gate, want always(): it is skipped when a job fails", gate.If)
	}
	for _, result := range []string{"success", "failure", "cancelled", "skipped", ""} {
		verdict := exec.Command("bash", "-e", "-c", gate.Steps[0].Run)
		verdict.Env = append(os.Environ(), "RESULTS=success "+result+" success")
		if passes := verdict.Run() == nil; passes != (result == "success") {
			t.Errorf("the gate passes: %t, when a job's result is %q", passes, result)
		}
	}
}
