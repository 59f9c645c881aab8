package main

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"testing"
)

// deployed is a module with a manifest, of which some tests read a part each, from the folder where they run or through
// package config.
var deployed = map[string]string{
	"go.mod": "module example.com/deployed\n\ngo 1.26\n",
	"go.sum": "", "Makefile": "", "README.md": "", "scripts/tools/go.mod": "",
	"operator/config/manager.yaml": "replicas: 2\nport: 80\nkind: Web\nunread: 1\n",
	// What a program reads of package config when it starts.
	"operator/config/rbac/role.yaml":                        "{}\n",
	"operator/config/samples/my_v1_webserver.yaml":          "{}\n",
	"operator/config/samples/cache_v1alpha1_memcached.yaml": "{}\n",
	"operator/config/config.go":                             "package config\n\nvar CRDs interface{ ReadFile(name string) ([]byte, error) }\n",
	"operator/operator_test.go":                             reads("operator", "TestTheDeployment", `os.ReadFile("config/manager.yaml")`, `"os"`, "replicas: 2"),
	"operator/controller/controller_test.go":                reads("controller", "TestTheOperatorKnowsTheKinds", `config.CRDs.ReadFile("manager.yaml")`, `"example.com/deployed/operator/config"`, "kind: Web"),
	"test/manifests/manifests_test.go":                      reads("manifests", "TestThePort", `os.ReadFile("../../operator/config/manager.yaml")`, `"os"`, "port: 80"),
}

// reads is a test that wants a line of what it reads.
func reads(pkg, test, read, imported, line string) string {
	return strings.NewReplacer("PKG", pkg, "TEST", test, "READ", read, "IMPORTED", imported, "LINE", line).Replace(`package PKG

import (
	IMPORTED
	"strings"
	"testing"
)

func TEST(t *testing.T) {
	if text, err := READ; err != nil || !strings.Contains(string(text), "LINE\n") {
		t.Error("no LINE", err)
	}
}
`)
}

// newManifestTrial is one of the mutants of a module's manifests by tests without a control plane.
func newManifestTrial(t *testing.T, module map[string]string, told *bytes.Buffer) *invention {
	t.Helper()
	o := options{focus: regexp.MustCompile("manager"), procs: 2, unitsOnly: true, folder: manifestFolder, manifests: true, accepted: map[string]string{
		"operator/config/manager.yaml port drop: port: 80":       "wrongly",
		"operator/config/manager.yaml unread drop: unread: 1":    "because",
		"operator/config/manager.yaml gone drop: gone: 1":        "it was deleted",
		"operator/controller/sums.go Add return: return nothing": "it is of another folder",
	}}
	in, err := newInvention(newWorkshop(t, module), o, &teller{out: told, table: &bytes.Buffer{}})
	noError(t, err)
	return in
}

func TestMutantsOfManifestsAreKilledOrSurvive(t *testing.T) {
	told := &bytes.Buffer{}
	in := newManifestTrial(t, deployed, told)
	noError(t, in.try(t.Context()))
	got := killers(in, "operator/config/manager.yaml ")
	if want := map[string]string{
		"replicas drop: replicas: 2": "TestTheDeployment", "replicas change: 2 → 3": "TestTheDeployment", "replicas change: 2 → 1": "TestTheDeployment",
		"port drop: port: 80": "TestThePort", "port change: 80 → 81": "TestThePort", "port change: 80 → 79": "TestThePort",
		"kind drop: kind: Web": "TestTheOperatorKnowsTheKinds", "kind change: Web → other": "TestTheOperatorKnowsTheKinds",
		"unread drop: unread: 1": "", "unread change: 1 → 2": "", "unread change: 1 → 0": "",
	}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	err := in.tellScore(true, 0)
	expectParts(t, fmt.Sprint(err), "",
		"manager.yaml port drop: port: 80 is accepted as one that no test can notice, but TestThePort does: take it off",
		"manager.yaml gone drop: gone: 1 is accepted, but no such mutant is invented any more: take it off",
		"2 of 11 invented mutants survived",
	)
	if strings.Contains(err.Error(), "sums.go") {
		t.Errorf("%v", err)
	}
	expectParts(t, told.String(), "\n", "SURVIVED operator/config/manager.yaml:4 unread change: 1 → 2", "      -unread: 1", "      +unread: 2",
		"      reached by 3 without being noticed:")
}

// TestManifestsNeedTests: tests that were renamed would try nothing, and pass.
func TestManifestsNeedTests(t *testing.T) {
	renamed := maps.Clone(deployed)
	renamed["operator/operator_test.go"] = strings.ReplaceAll(deployed["operator/operator_test.go"], "TestTheDeployment", "TestAnother")
	if err := newManifestTrial(t, renamed, &bytes.Buffer{}).try(t.Context()); err == nil || err.Error() != `operator has no test that matches "^TestTheDeployment"` {
		t.Errorf("got %v", err)
	}
}
