package main

import (
	"strings"
	"testing"

	"github.com/operator-assay/assay/test/harness/explore"
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

func TestTheOperatorsArgumentsComeAfterDashes(t *testing.T) {
	// --version is the operator's flag, and no program is there to be started with it.
	code, _, stderr := assay(t, "explore", "--operator", "none", "--", "--version", "x")
	if code != exitUsage || !strings.Contains(stderr, "--operator=none is no program") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
