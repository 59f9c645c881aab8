package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/explore"
	"github.com/operator-assay/assay/harness/pod"
	"github.com/operator-assay/assay/harness/report/page"
	"github.com/operator-assay/assay/harness/results"
	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
	"github.com/operator-assay/assay/harness/subject"
)

func TestCommandLineOfPlan(t *testing.T) {
	catalogue, err := scenarioyaml.Load(scenarios)
	noError(t, err)
	plans, err := explore.Parse("greeter/create crash-after create configmaps - 1", catalogue.Scenarios)
	noError(t, err)
	o := &exploreOptions{subjectOptions: subjectOptions{
		operator: "/bin/naive", scenarios: scenarios, roles: []string{"my role.yaml"}, crds: []string{"a", "b"}, version: "1.36.4",
		arguments: []string{"--kubeconfig={kubeconfig}", "it's"},
	}}
	const want = `assay explore --operator /bin/naive --scenarios ../../test/fixtures/naive/scenarios.yaml --crds a --crds b ` +
		`--role 'my role.yaml' --kubernetes-version 1.36.4 --plan 'greeter/create crash-after create configmaps - 1' -- '--kubeconfig={kubeconfig}' 'it'"'"'s'`
	if got := o.commandLine(plans[0]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestOperatorArgumentsFollowDashes(t *testing.T) {
	// The error about the missing binary shows that --version was not parsed as a flag of assay.
	expectRefused(t, "--operator: none: stat ", "explore", "--operator", "none", "--", "--version", "x")
}

func TestInvalidFlagsCreateNoDirectory(t *testing.T) {
	artifacts := filepath.Join(t.TempDir(), "explore")
	expectRefused(t, "--operator: none: stat ", "explore", "--operator", "none", "--artifacts", artifacts)
	if _, err := os.Stat(artifacts); err == nil {
		t.Errorf("%s exists", artifacts)
	}
}

func TestConflictingFlagsAreRejected(t *testing.T) {
	for _, flags := range []string{"--pairs=1 --check", "--pairs=1 --plan=a", "--plan=a --shard=1/2"} {
		expectRefused(t, "were all set", append([]string{"explore"}, strings.Fields(flags)...)...)
	}
}

func TestPageIsUpdatedDuringExploration(t *testing.T) {
	artifacts := t.TempDir()
	o := &exploreOptions{resultOptions: resultOptions{artifacts: artifacts}}
	unreachable := &controlplane.ControlPlane{Config: &rest.Config{Host: "127.0.0.1:1"}}
	var told strings.Builder
	explorer := &explore.Explorer{Options: explore.Options{Environment: explore.Environment{ControlPlane: unreachable}, Progress: &told}}
	s, err := subject.Read(t.Context(), subject.Options{Operator: "/bin/sh", Roles: []string{"../../operator/config/rbac/role.yaml"}, Scenarios: subject.TestScenarios([]string{"true"})})
	noError(t, err)
	t.Cleanup(s.Close)
	o.writeSoFar(explorer, s)(nil)
	written, err := results.ReadExploration(filepath.Join(artifacts, results.ExplorationFile))
	if err != nil || !written.Interrupted {
		t.Errorf("%v, %v", written, err)
	}
	if _, err := os.Stat(filepath.Join(artifacts, page.File)); err != nil {
		t.Error(err)
	}
	if want := "report     " + filepath.Join(artifacts, page.File) + ": no plan was run\n"; told.String() != want {
		t.Errorf("got progress %q, want %q", told.String(), want)
	}
	o.inPod = true
	if o.writeSoFar(explorer, s) == nil {
		t.Error("got no function in a Pod, want one, so that failures are confirmed during the exploration")
	}
}

func TestPlanDoesNotReplaceReport(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "_artifacts/explore"},
		{[]string{"--plan=web/create slow-reads"}, "_artifacts/explore/plan"},
		{[]string{"--plan=web/create slow-reads", "--artifacts=mine"}, "mine"},
		{[]string{"--artifacts=mine"}, "mine"},
	} {
		o := &exploreOptions{}
		command := o.command()
		noError(t, command.ParseFlags(test.args))
		if o.chooseArtifacts(command); o.artifacts != test.want {
			t.Errorf("%v: got artifacts directory %s, want %s", test.args, o.artifacts, test.want)
		}
	}
}

func TestDuplicateScenarioNameIsRejected(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "role.yaml", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: x}, rules: []}`)
	write(t, dir, "assay.yaml", "{role: [role.yaml], scenarios: [{name: test/1, steps: [{script: {content: ls}}]}]}")
	expectRefused(t, "error: two scenarios have the name test/1: rename the one in the file",
		"explore", "--operator=/bin/sh", "--scenarios="+filepath.Join(dir, "assay.yaml"), "--test=ls")
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestReportIsWrittenDespiteBrokenPipe(t *testing.T) {
	for _, form := range []string{"text", "json"} {
		artifacts := filepath.Join(t.TempDir(), "explore")
		command := newExplore()
		command.SetOut(brokenPipe{})
		command.SetErr(brokenPipe{})
		o := resultOptions{artifacts: artifacts, output: form}
		err := o.conclude(command, results.Exploration{})
		if (err != nil) != (form == "json") {
			t.Errorf("%s: %v", form, err)
		}
		if _, err := os.Stat(filepath.Join(artifacts, page.File)); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
}

func TestInitChecksSettingsFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, ".", "assay.yaml", "manager: controller-manager\n")
	expectRefused(t, "assay.yaml already exists: remove it first", "init")
	noError(t, os.RemoveAll(dir)) // root can write to a read-only directory
	expectRefused(t, "cannot create the settings: open assay.yaml: ", "init")
}

func TestKubernetesVersionIsCheckedFirst(t *testing.T) {
	t.Chdir(t.TempDir()) // there is no project
	for _, command := range []string{"explore", "init"} {
		expectRefused(t, `invalid Kubernetes version "foo"`, command, "--kubernetes-version=foo")
	}
}

func TestMissingKubernetesVersionIsReportedBeforeBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the network")
	}
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("KUBEBUILDER_ASSETS", "")
	t.Setenv("PATH", t.TempDir()) // so that the operator cannot be built
	write(t, ".", "main.go", "package main\n")
	write(t, ".", "role.yaml", "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: x}}")
	code, _, stderr := assay(t, "explore", "--role=role.yaml", "--test=true", "--kubernetes-version=1.99.0")
	if code != exitBroken || strings.Contains(stderr, "requires go") || !strings.Contains(stderr, "v1.99.0 for "+runtime.GOOS) {
		t.Errorf("got exit code %d:\n%s", code, stderr)
	}
}

// TestExplorations runs explorations in parallel, because they spend most of their time waiting.
func TestExplorations(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	naive, err := filepath.Abs("../../test/fixtures/naive")
	noError(t, err)
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "naive"), ".")
	build.Dir = naive
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write(t, dir, "operator", "#!/bin/sh\necho 'Observed a panic in reconciler: boom' >&2\nexec "+filepath.Join(dir, "naive")+" \"$@\"\n")
	noError(t, os.Chmod(filepath.Join(dir, "operator"), 0o755))
	write(t, dir, "scenarios.yaml", `scenarios:
- name: greeter/create
  steps:
  - apply: {apiVersion: naive.example.com/v1, kind: Greeter, metadata: {name: hello}, spec: {image: "nginx:1", replicas: 1}}
  - converged: {}
`)
	write(t, dir, "samples.yaml", "samples: ["+filepath.Join(naive, "config/samples")+"]\n")
	ctrl.SetLogger(logr.Discard()) // as in main
	t.Chdir("../../test/fixtures/defaulter")
	t.Setenv("KUBEBUILDER_ASSETS", os.Getenv("KUBEBUILDER_ASSETS")) // restored after the test, because the command sets it

	t.Run("check reports a panic", func(t *testing.T) {
		t.Parallel()
		checkReportsPanic(t, dir, naive)
	})
	for _, check := range []bool{false, true} {
		t.Run(fmt.Sprintf("interrupted, check %t", check), func(t *testing.T) {
			t.Parallel()
			interrupt(t, dir, naive, check)
		})
	}
	t.Run("webhook outlives its operator", func(t *testing.T) {
		t.Parallel()
		if err := pod.Unavailable(); err != nil {
			t.Skip(err)
		}
		webhookOutlivesOperator(t)
	})
}

func checkReportsPanic(t *testing.T, dir, naive string) {
	code, stdout, stderr := assay(t, "explore", "--check", "--operator", filepath.Join(dir, "operator"), "--scenarios", filepath.Join(dir, "scenarios.yaml"),
		"--crds", filepath.Join(naive, "config/crd/bases"), "--role", filepath.Join(naive, "config/rbac/role.yaml"))
	if code != exitFindings || !strings.HasSuffix(stderr, "error: 1 finding without any fault: 1 panic\n") || !strings.Contains(stdout, "found in a fault-free run: boom") {
		t.Errorf("got exit code %d\n%s%s", code, stdout, stderr)
	}
}

// interruption is a writer that cancels the command when it prints the first line about greeter/create.
type interruption struct {
	bytes.Buffer
	cancel context.CancelFunc
}

func (i *interruption) Write(text []byte) (int, error) {
	if strings.Contains(string(text), "greeter/create ") {
		i.cancel()
	}
	return i.Buffer.Write(text)
}

// interrupt cancels an exploration of an operator that panics, and expects the results so far to be reported.
func interrupt(t *testing.T, dir, naive string, check bool) {
	ctx, cancel := context.WithCancel(t.Context())
	artifacts, out := t.TempDir(), interruption{cancel: cancel}
	code := run(ctx, []string{"explore", "--artifacts", artifacts, fmt.Sprintf("--check=%t", check), "--operator", filepath.Join(dir, "operator"),
		"--scenarios", filepath.Join(dir, "samples.yaml"), "--crds", filepath.Join(naive, "config/crd/bases"), "--role", filepath.Join(naive, "config/rbac/role.yaml")}, &out, &out)
	want := []string{"left out: greeter: the exploration was interrupted before trying ", "1 finding without any fault: 1 panic\n", "error: interrupted; everything was cleaned up\n"}
	if !check {
		want = append(want, "report "+filepath.Join(artifacts, page.File))
		text, err := os.ReadFile(filepath.Join(artifacts, page.File))
		if err != nil || !strings.Contains(string(text), "This page is partial") {
			t.Errorf("the page is not marked as partial (%v)", err)
		}
	}
	for _, text := range want {
		if !strings.Contains(out.String(), text) {
			t.Errorf("got no %q, want it in:\n%s", text, out.String())
		}
	}
	if code != exitSignal {
		t.Errorf("got exit code %d, want %d", code, exitSignal)
	}
}

// webhookOutlivesOperator runs assay explore with a webhook that keeps running when the operator is killed.
func webhookOutlivesOperator(t *testing.T) {
	code, stdout, stderr := assay(t, "explore", "--artifacts", t.TempDir(), "--scenarios", "scenarios.yaml", "--plan", "notice/two crash-after create clusterroles.rbac.authorization.k8s.io - 1")
	if code != exitOK || strings.Contains(stdout, "not called") {
		t.Errorf("got exit code %d:\n%s%s", code, stdout, stderr)
	}
	if !strings.Contains(stdout, "total ") {
		t.Errorf("got no totals, want them in:\n%s", stdout)
	}
}
