package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/test/harness/controlplane"
	"github.com/operator-assay/assay/test/harness/explore"
	"github.com/operator-assay/assay/test/harness/report/page"
	"github.com/operator-assay/assay/test/harness/report/results"
	"github.com/operator-assay/assay/test/harness/scenario/scenarioyaml"
)

func TestAFailuresCommandLineRunsItAgain(t *testing.T) {
	catalogue, err := scenarioyaml.Load(scenarios)
	if err != nil {
		t.Fatal(err)
	}
	plans, err := explore.Parse("greeter/create crash-after create configmaps - 1", catalogue.Scenarios)
	if err != nil {
		t.Fatal(err)
	}
	o := &exploreOptions{subjectOptions: subjectOptions{
		operator: "/bin/naive", scenarios: scenarios, roles: []string{"my role.yaml"}, crds: []string{"a", "b"},
		arguments: []string{"--kubeconfig={kubeconfig}", "it's"}, hasArguments: true,
	}}
	const want = `assay explore --operator /bin/naive --scenarios ../../test/fixtures/naive/scenarios.yaml --crds a --crds b ` +
		`--role 'my role.yaml' --plan 'greeter/create crash-after create configmaps - 1' -- '--kubeconfig={kubeconfig}' 'it'"'"'s'`
	if got := o.commandLine(plans[0]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAReportThatCannotBeWrittenIsElsewhere(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	folder, err := writeReport("main.go", results.Exploration{})
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.HasSuffix(err.Error(), ": it is in "+folder+" instead") || filepath.Dir(folder) != temp {
		t.Errorf("%q, %v", folder, err)
	}
	if _, err := os.Stat(filepath.Join(folder, page.File)); err != nil {
		t.Error(err)
	}
	t.Setenv("TMPDIR", "main.go")
	if folder, err := writeReport("main.go", results.Exploration{}); folder != "" || err == nil || strings.Contains(err.Error(), "instead") {
		t.Errorf("%q, %v", folder, err)
	}
}

func TestTheOperatorsArgumentsComeAfterDashes(t *testing.T) {
	// --version is the operator's flag, and no program is there to be started with it.
	code, _, stderr := assay(t, "explore", "--operator", "none", "--", "--version", "x")
	if code != exitUsage || !strings.Contains(stderr, "--operator=none is no program") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

func TestPairsAreBesideAllPlans(t *testing.T) {
	for _, only := range []string{"--check", "--plan=a slow-reads"} {
		code, _, stderr := assay(t, "explore", "--pairs=1", only)
		if code != exitUsage || !strings.Contains(stderr, "--pairs adds to all plans") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
	}
}

func TestThePageIsWrittenWhileAnExplorationGoesOn(t *testing.T) {
	artifacts := t.TempDir()
	o := &exploreOptions{artifacts: artifacts}
	unreachable := &controlplane.ControlPlane{Config: &rest.Config{Host: "127.0.0.1:1"}}
	var told strings.Builder
	explorer := &explore.Explorer{Options: explore.Options{ControlPlane: unreachable, Progress: &told}}
	s := &subject{options: &o.subjectOptions, operator: &program{}, catalogue: &scenarioyaml.File{}}
	o.writeSoFar(explorer, s)(nil)
	written, err := results.ReadExploration(filepath.Join(artifacts, results.ExplorationFile))
	if err != nil || !written.Interrupted {
		t.Errorf("%v, %v", written, err)
	}
	if _, err := os.Stat(filepath.Join(artifacts, page.File)); err != nil {
		t.Error(err)
	}
	if want := "report     " + filepath.Join(artifacts, page.File) + ": no plan was played\n"; told.String() != want {
		t.Errorf("told %q, want %q", told.String(), want)
	}
	o.inPod = true
	if o.writeSoFar(explorer, s) == nil {
		t.Error("in a Pod failures are not confirmed while plans are played")
	}
}
