package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// repository is what the rules judge: the text of each file by its path.
type repository map[string]string

const (
	nodeImages     = "test/harness/cluster/nodeimage.go"
	defaultVersion = "test/harness/binaries/version.go"
	ruleset        = ".github/rulesets/main.json"
)

// readRepository reads the files that have a say in the gate.
func readRepository(t *testing.T) repository {
	t.Helper()
	t.Chdir("../..")
	files := []string{"Makefile", "go.mod", "README.md", nodeImages, defaultVersion, ruleset}
	for _, pattern := range []string{".github/workflows/*", ".github/actions/*/*"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	r := repository{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r[file] = string(text)
	}
	return r
}

// workflows are the repository's, by their files' names.
func (r repository) workflows() (map[string]*workflow, error) {
	found := map[string]*workflow{}
	for file, text := range r {
		if !strings.HasPrefix(file, ".github/workflows/") {
			continue
		}
		w, err := parse([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		found[filepath.Base(file)] = w
	}
	return found, nil
}

// problems are all that is wrong.
func (r repository) problems() []string {
	workflows, err := r.workflows()
	if err != nil {
		return []string{err.Error()}
	}
	all := r.unpinned()
	for file, w := range workflows {
		for _, problem := range slices.Concat(unrestricted(file, w), r.shapeless(file, w), lenient(w), unnamedProviders(w)) {
			all = append(all, file+": "+problem)
		}
	}
	gate := workflows["ci.yaml"]
	return slices.Concat(all, r.retries(), leaky(gate), r.untriggered(gate), r.unsupported(gate), r.unpatched())
}

var used = regexp.MustCompile(`(?m)^\s*(?:- )?uses:\s*(\S+)(.*)$`)
var pinned = regexp.MustCompile(`^[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*$`)

// unpinned are actions that are not of one commit, whose version a comment tells.
func (r repository) unpinned() []string {
	var problems []string
	for file, text := range r {
		if !strings.HasPrefix(file, ".github/") {
			continue
		}
		for _, use := range used.FindAllStringSubmatch(text, -1) {
			own := strings.HasPrefix(use[1], "./.github/actions/") && use[2] == ""
			if !own && !pinned.MatchString(use[1]+use[2]) {
				problems = append(problems, fmt.Sprintf("%s: %s%s is not pinned by a commit with its version in a comment", file, use[1], use[2]))
			}
		}
	}
	return problems
}

// mayWrite are the only jobs that may do more than read the repository.
var mayWrite = map[string]permissions{
	"release.yaml publish": {"contents": "write", "packages": "write", "id-token": "write", "attestations": "write"},
}

// unrestricted are jobs that may do more than they must, or may do it for ever.
func unrestricted(file string, w *workflow) []string {
	var problems []string
	if !maps.Equal(w.Permissions, permissions{"contents": "read"}) {
		problems = append(problems, "the workflow's permissions must be contents: read and no more")
	}
	if !strings.Contains(w.Concurrency.Group, "${{ github.") {
		problems = append(problems, "it has no concurrency group of each ref's own: a run on a branch would cancel that of main")
	}
	for id, job := range w.Jobs {
		if granted := mayWrite[file+" "+id]; len(job.Permissions) > 0 && !maps.Equal(job.Permissions, granted) {
			problems = append(problems, fmt.Sprintf("%s has permissions %v, not %v", id, job.Permissions, granted))
		}
		if job.TimeoutMinutes == 0 {
			problems = append(problems, id+" has no timeout")
		}
		if !strings.HasPrefix(job.RunsOn, "ubuntu-") || job.RunsOn == "ubuntu-latest" {
			problems = append(problems, id+" runs on what changes by itself: "+job.RunsOn)
		}
		for _, s := range job.Steps {
			if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
				problems = append(problems, id+" leaves its token in the checkout")
			}
		}
	}
	return problems
}

// lenient are jobs that pass though something in them has failed, or that are skipped.
func lenient(w *workflow) []string {
	var problems []string
	for id, job := range w.Jobs {
		if id != "gate" && job.If != "" {
			problems = append(problems, id+" has a condition: a skipped job has not passed")
		}
		if fast := job.Strategy.FailFast; len(job.Strategy.Matrix) > 0 && (fast == nil || *fast) {
			problems = append(problems, id+" ends its other parts when one fails, so that they say nothing: set fail-fast: false")
		}
	}
	return problems // continue-on-error is no part of the syntax that parse knows
}

// retries are attempts to let a test that has failed pass.
func (r repository) retries() []string {
	var problems []string
	for _, attempts := range []string{"flake-attempts", "FLAKE_ATTEMPTS", "FlakeAttempts"} {
		if strings.Contains(r["Makefile"], attempts) {
			problems = append(problems, "Makefile: "+attempts+" retries what has failed")
		}
	}
	return problems
}

// unnamedProviders are jobs whose end-to-end tests run on whatever is there.
func unnamedProviders(w *workflow) []string {
	var problems []string
	for id, job := range w.Jobs {
		for _, s := range job.Steps {
			fields := strings.Fields(s.Run)
			if len(fields) < 2 || !slices.Contains([]string{"e2e", "flake"}, fields[1]) {
				continue
			}
			if provider := job.Env["E2E_PROVIDER"]; provider != "kind" && provider != "kwok" {
				problems = append(problems, fmt.Sprintf("%s names no provider: E2E_PROVIDER is %q", id, provider))
			}
		}
	}
	return problems
}

// leaky is what lets a change through the gate though a job has not passed. The gate's own commands are run,
// for every result that a job can have.
func leaky(w *workflow) []string {
	gate := w.Jobs["gate"]
	if gate == nil || len(gate.Steps) != 1 {
		return []string{"there is no gate of one step"}
	}
	var problems []string
	for _, id := range w.order {
		if id != "gate" && !slices.Contains(gate.Needs, id) {
			problems = append(problems, "the gate does not need "+id)
		}
	}
	if gate.If != "always()" {
		problems = append(problems, "the gate is skipped when a job fails: its condition must be always()")
	}
	for _, result := range []string{succeeded, failed, skipped, cancelled, ""} {
		results := map[string]string{}
		for _, id := range gate.Needs {
			results[id] = succeeded
		}
		results[gate.Needs[len(gate.Needs)/2]] = result
		v := valuesOf(nil, gate.Needs, results)
		environment, err := v.environment(os.Environ(), gate.Steps[0].Env)
		if err != nil {
			return append(problems, err.Error())
		}
		command := exec.Command("bash", "-e", "-c", gate.Steps[0].Run)
		command.Env = environment
		if passes := command.Run() == nil; passes != (result == succeeded) {
			problems = append(problems, fmt.Sprintf("the gate's verdict is %t when a job's result is %q", passes, result))
		}
	}
	return problems
}

// untriggered is what keeps the gate from judging a change, or lets it waste its time.
func (r repository) untriggered(w *workflow) []string {
	var problems []string
	for _, event := range []string{"pull_request", "merge_group"} {
		if filter, ok := w.On[event]; !ok || filter != nil {
			problems = append(problems, "ci.yaml: "+event+" must run it, whatever has changed")
		}
	}
	if !w.Concurrency.CancelInProgress || !strings.Contains(w.Concurrency.Group, "github.event.pull_request.number") {
		problems = append(problems, "ci.yaml: a newer push must cancel the run of a pull request")
	}
	// 15368 is GitHub Actions. Without it, a status of that name counts whoever has written it.
	if !strings.Contains(r[ruleset], `"required_status_checks": [{ "context": "gate", "integration_id": 15368 }]`) {
		problems = append(problems, ruleset+": the gate must be the one required check, from GitHub Actions")
	}
	return problems
}
