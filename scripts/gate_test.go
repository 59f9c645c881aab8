// Package scripts tests what guards this repository: that the gate lets nothing through, that the workflow, the local
// gate and the Makefile agree, that workflows keep to the policies, and that a version is the same wherever it stands.
package scripts

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"
)

const (
	gateFile  = ".github/workflows/ci.yaml"
	localGate = ".ci/run"
	ruleset   = ".github/rulesets/main.json"
	setUp     = ".github/actions/set-up/action.yaml"
	// What other repositories use.
	exploreWorkflow = ".github/workflows/explore.yaml"
	assayAction     = "action.yaml"
	nodeImages      = "harness/images/nodeimage.go"
)

// repository is the text of each file that is judged, by its path.
type repository map[string]string

func readRepository(t *testing.T) repository {
	t.Helper()
	t.Chdir("..")
	r := repository{}
	for _, pattern := range []string{
		".github/workflows/*", assayAction, setUp, ruleset, localGate, "Makefile", "go.mod", "README.md", nodeImages,
		"harness/binaries/*.go", "scripts/*.sh", "harness/images/noderecipe.go", ".devcontainer/*", "operator/Dockerfile",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no file is %s: %v", pattern, err)
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

// workflow is as much of GitHub's syntax as is judged.
type workflow struct {
	Permissions map[string]string `json:"permissions"`
	Jobs        map[string]job    `json:"jobs"`
}

type job struct {
	Needs           any               `json:"needs"`
	If              string            `json:"if"`
	RunsOn          string            `json:"runs-on"`
	TimeoutMinutes  int               `json:"timeout-minutes"`
	Permissions     map[string]string `json:"permissions"`
	ContinueOnError bool              `json:"continue-on-error"`
	Strategy        struct {
		FailFast *bool `json:"fail-fast"`
		Matrix   struct {
			Kubernetes []string            `json:"kubernetes"`
			Include    []map[string]string `json:"include"`
		} `json:"matrix"`
	} `json:"strategy"`
	Env   map[string]string `json:"env"`
	Steps []struct {
		If              string         `json:"if"`
		Uses            string         `json:"uses"`
		With            map[string]any `json:"with"`
		Run             string         `json:"run"`
		ContinueOnError bool           `json:"continue-on-error"`
	} `json:"steps"`
}

func (r repository) workflow(file string) workflow {
	var w workflow
	if err := yaml.Unmarshal([]byte(r[file]), &w); err != nil {
		panic(fmt.Sprintf("%s: %v", file, err))
	}
	return w
}

// gateProblems are what lets a change pass though a job has not.
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
	_ = json.Unmarshal([]byte(r[ruleset]), &rules) // what is no JSON requires nothing
	required := fmt.Sprint(rules)
	if !strings.Contains(required, "{gate 15368}") {
		problems = append(problems, "the gate, from GitHub Actions, is not the required check")
	}
	return problems
}

var (
	makeCommand = regexp.MustCompile(`^make ([a-z0-9- ]+?)((?: [A-Z0-9_]+=[\w.-]+)*)$`)
	makeTargets = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
)

// targets reads "make a b X=y", and names end-to-end tests with the provider that they run on. What is no such
// command, of known targets, is a problem.
func (r repository) targets(line, provider string) (targets []string, problem string) {
	command := makeCommand.FindStringSubmatch(line)
	if command == nil {
		return nil, fmt.Sprintf("%q is not make with targets", line)
	}
	if _, given, ok := strings.Cut(command[2], "E2E_PROVIDER="); ok {
		provider = given
	}
	for target := range strings.FieldsSeq(command[1]) {
		if !slices.Contains(makeTargets.FindAllString(r["Makefile"], -1), target+":") {
			return nil, fmt.Sprintf("%q is no target of the Makefile", target)
		}
		if target == "e2e" {
			target += " on " + provider
		}
		targets = append(targets, target)
	}
	return targets, ""
}

// targetProblems are where the workflow, the local gate and the Makefile do not name the same targets.
func (r repository) targetProblems() (problems []string) {
	hosted, local := sets.Set[string]{}, sets.Set[string]{}
	for file := range r {
		if filepath.Dir(file) != ".github/workflows" || file == exploreWorkflow {
			continue
		}
		for id, job := range r.workflow(file).Jobs {
			for _, step := range job.Steps {
				if step.Run == "" || file == gateFile && id == "gate" {
					continue
				}
				targets, problem := r.targets(step.Run, job.Env["E2E_PROVIDER"])
				if problem != "" {
					problems = append(problems, fmt.Sprintf("%s: %s: %s", file, id, problem))
				}
				if file == gateFile && step.If == "" {
					hosted.Insert(targets...)
				}
			}
		}
	}
	for line := range strings.Lines(r[localGate]) {
		if line, isPart := strings.CutPrefix(strings.TrimSpace(line), "part "); isPart {
			targets, problem := r.targets(line, "auto")
			if problem != "" {
				problems = append(problems, localGate+": "+problem)
			}
			local.Insert(targets...)
		}
	}
	if !hosted.Equal(local) {
		problems = append(problems, fmt.Sprintf("%s makes %v, but %s %v", gateFile, sets.List(hosted), localGate, sets.List(local)))
	}
	return problems
}
