// Package scripts tests that the gate requires every job, and that all files agree on the versions.
package scripts

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const (
	gateFile    = ".github/workflows/ci.yaml"
	ruleset     = ".github/rulesets/main.json"
	setUp       = ".github/actions/set-up/action.yaml"
	assayAction = "action.yaml"
	nodeImages  = "harness/images/nodeimage.go"
)

// repository contains the text of the files that the tests read, keyed by path.
type repository map[string]string

func readRepository(t *testing.T) repository {
	t.Helper()
	t.Chdir("..")
	r := repository{}
	for _, pattern := range []string{
		gateFile, assayAction, setUp, ruleset, "go.mod", "README.md", nodeImages,
		"harness/binaries/*.go", "scripts/*.sh", "harness/images/noderecipe.go", ".devcontainer/*", "operator/Dockerfile",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no file matches %s (error %v)", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r[file] = string(text)
		}
	}
	return r
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

func (r repository) workflow(file string) workflow {
	var w workflow
	if err := yaml.Unmarshal([]byte(r[file]), &w); err != nil {
		panic(fmt.Sprintf("%s: %v", file, err))
	}
	return w
}

func TestGateRequiresEveryJob(t *testing.T) {
	for _, problem := range readRepository(t).gateProblems() {
		t.Error(problem)
	}
}

// gateProblems returns the reasons why the gate could pass although a job has failed.
func (r repository) gateProblems() (problems []string) {
	jobs := r.workflow(gateFile).Jobs
	gate := jobs["gate"]
	needs := fmt.Sprint(gate.Needs)
	for id := range jobs {
		if id != "gate" && !slices.Contains(strings.Fields(strings.Trim(needs, "[]")), id) {
			problems = append(problems, "the gate does not need "+id)
		}
	}
	if gate.If != "always()" {
		problems = append(problems, "the gate is skipped when a job fails")
	}
	for _, result := range []string{"success", "failure", "cancelled", "skipped", ""} {
		verdict := exec.Command("bash", "-e", "-c", gate.Steps[0].Run)
		verdict.Env = append(os.Environ(), "RESULTS=success "+result+" success")
		if passes := verdict.Run() == nil; passes != (result == "success") {
			problems = append(problems, fmt.Sprintf("the gate passes: %t, when a job's result is %q", passes, result))
		}
	}
	var rules struct {
		Rules []struct {
			Parameters struct {
				Checks []struct {
					Context       string
					IntegrationID int `json:"integration_id"`
				} `json:"required_status_checks"`
			}
		}
	}
	_ = json.Unmarshal([]byte(r[ruleset]), &rules) // invalid JSON is treated as a ruleset without required checks
	required := fmt.Sprint(rules)
	if !strings.Contains(required, "{gate 15368}") {
		problems = append(problems, "the gate, from GitHub Actions, is not the required check")
	}
	return problems
}
