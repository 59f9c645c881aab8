package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/incluster"
)

type exploreWorkflow struct {
	On struct {
		Call struct {
			Inputs map[string]any `json:"inputs"`
		} `json:"workflow_call"`
	} `json:"true"` // YAML 1.1 parses the key "on" as a boolean
	Jobs map[string]struct {
		Steps []struct {
			Run string            `json:"run"`
			Env map[string]string `json:"env"`
		} `json:"steps"`
	} `json:"jobs"`
}

func readExploreWorkflow(t *testing.T) exploreWorkflow {
	t.Helper()
	text, err := os.ReadFile("../../.github/workflows/explore.yaml")
	noError(t, err)
	var w exploreWorkflow
	noError(t, yaml.Unmarshal(text, &w))
	return w
}

func (w exploreWorkflow) script(t *testing.T, job, text string) (script string, env map[string]string) {
	t.Helper()
	for _, step := range w.Jobs[job].Steps {
		if strings.Contains(step.Run, text) {
			return step.Run, step.Env
		}
	}
	t.Fatalf("no step of job %s contains %q", job, text)
	return "", nil
}

func TestWorkflowHasInputsForFlags(t *testing.T) {
	w := readExploreWorkflow(t)
	script, env := w.script(t, "shard", "assay explore")
	want := []string{"arguments", "shards", "working-directory"}
	newExplore().LocalFlags().VisitAll(func(flag *pflag.Flag) {
		switch flag.Name {
		case "help", "plan", "check", "output": // only for interactive use
		case "in-cluster", "shards", "image", "keep-job", incluster.InPodFlag: // for in-cluster runs
		case "shard", "artifacts": // set by the workflow itself
		case "fail-on": // used by the merge job
			want = append(want, flag.Name)
		default:
			want = append(want, flag.Name)
			variable := strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
			if env[variable] != "${{ inputs."+flag.Name+" }}" || !strings.Contains(script, " "+flag.Name+" ") && !strings.Contains(script, " "+flag.Name+";") {
				t.Errorf("the input %s is not passed as a flag", flag.Name)
			}
		}
	})
	var got []string
	for name := range w.On.Call.Inputs {
		got = append(got, name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("inputs: got\n%v, want\n%v", got, want)
	}
}

func TestWorkflowPassesInputs(t *testing.T) {
	script, env := readExploreWorkflow(t).script(t, "shard", "assay explore")
	bin := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(bin, "assay"), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\"\n"), 0o755))
	command := exec.CommandContext(t.Context(), "bash", "-e", "-o", "pipefail", "-c", script) // the command that GitHub uses
	command.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "RUNNER_TEMP=/tmp"}
	given := map[string]string{
		"SHARD": "2/3", "MAIN": "./cmd/my operator", "SAMPLE": "a.yaml\nb.yaml\n", "TEST": "$(touch harmed)",
		"ARGUMENTS": "--kubeconfig={kubeconfig}\n--zap-level=debug 1",
	}
	for name := range env {
		command.Env = append(command.Env, name+"="+given[name])
	}
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := []string{
		"explore", "--shard", "2/3", "--artifacts", "/tmp/explore", "--fail-on=",
		"--main=./cmd/my operator", "--sample=a.yaml", "--sample=b.yaml", "--test=$(touch harmed)",
		"--", "--kubeconfig={kubeconfig}", "--zap-level=debug 1",
	}
	if got := strings.Split(strings.TrimSpace(string(out)), "\n"); !slices.Equal(got, want) {
		t.Errorf("arguments: got\n%q, want\n%q", got, want)
	}
}
