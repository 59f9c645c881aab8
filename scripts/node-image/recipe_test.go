package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/mod/modfile"
)

func TestImageIsNamedAfterItsVersionAndRecipe(t *testing.T) {
	if name := imageName("v1.37.0"); !regexp.MustCompile(`^assay/kind-node:v1\.37\.0-[0-9a-f]{8}$`).MatchString(name) {
		t.Errorf("got %s", name)
	}
}

func TestFingerprintFollowsTheRecipeAndNotItsTests(t *testing.T) {
	recipe := func() fstest.MapFS {
		return fstest.MapFS{"setup.sh": {Data: []byte("a")}, "make.go": {Data: []byte("b")}, "make_test.go": {Data: []byte("c")}}
	}
	original := fingerprint(recipe())
	for name, test := range map[string]struct {
		file    string
		changes bool
	}{
		"script": {"setup.sh", true},
		"source": {"make.go", true},
		"test":   {"make_test.go", false},
		"new":    {"node/etc/new", true},
	} {
		changed := recipe()
		changed[test.file] = &fstest.MapFile{Data: []byte("changed")}
		if (fingerprint(changed) != original) != test.changes {
			t.Errorf("%s: the fingerprint was %s and is %s", name, original, fingerprint(changed))
		}
	}
}

func TestKindIsOfTheVersionThatTheRepositoryUses(t *testing.T) {
	content, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, require := range file.Require {
		if require.Mod.Path == "sigs.k8s.io/kind" && require.Mod.Version != kindVersion {
			t.Errorf("go.mod has kind %s, the image is made for %s", require.Mod.Version, kindVersion)
		}
	}
}

func TestScriptsStopAtTheFirstFailure(t *testing.T) {
	for _, name := range []string{"setup.sh", "kube-proxy.sh", "node/usr/local/bin/fit-containerd", "node/usr/local/bin/pod-network"} {
		if !strings.Contains(script(name), "set -o errexit -o nounset -o pipefail") {
			t.Errorf("%s does not", name)
		}
	}
}
