package scripts

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/semver"
)

// The matrix of the workflow's test job defines the supported Kubernetes versions.
func TestVersionsAgree(t *testing.T) {
	const (
		setUp       = ".github/actions/set-up/action.yaml"
		assayAction = "action.yaml"
		nodeImages  = "harness/images/nodeimage.go"
	)
	jobs := readGate(t).Jobs
	newestFirst := func(a, b string) int { return semver.Compare(b, a) }
	supported := slices.SortedFunc(slices.Values(jobs["test"].Strategy.Matrix.Kubernetes), newestFirst)
	if onKWOK := slices.SortedFunc(slices.Values(jobs["e2e-kwok"].Strategy.Matrix.Kubernetes), newestFirst); !slices.Equal(onKWOK, supported) {
		t.Errorf("test runs on %v, but e2e-kwok on %v", supported, onKWOK)
	}
	if len(supported) != 3 {
		t.Fatalf("test runs on %v, want three minor versions", supported)
	}
	var newest int
	if _, err := fmt.Sscanf(supported[0], "v1.%d.", &newest); err != nil {
		t.Fatalf("%s: %v", supported[0], err)
	}
	for i, version := range supported {
		if want := fmt.Sprintf("v1.%d", newest-i); semver.MajorMinor(version) != want {
			t.Errorf("got version %s of %v, want %s: support three consecutive minor versions", version, supported, want)
		}
	}
	images := map[string]string{} // the images of the kind nodes in the workflow, by Kubernetes version
	for _, part := range jobs["e2e-kind"].Strategy.Matrix.Include {
		images[part["kubernetes"]] = part["node-image"]
	}
	known := map[string]string{} // the images of the kind nodes in the harness, by Kubernetes version
	for _, image := range regexp.MustCompile(`kindest/node:(v[\d.]+)@sha256:[0-9a-f]{64}`).FindAllStringSubmatch(read(t, nodeImages), -1) {
		known[image[1]] = image[0]
	}
	if !maps.Equal(images, known) {
		t.Errorf("e2e-kind runs on %v, but %s has %v", images, nodeImages, known)
	}
	if tested := slices.SortedFunc(maps.Keys(images), newestFirst); !slices.Equal(tested, supported) {
		t.Errorf("test runs on %v, but e2e-kind on %v", supported, tested)
	}
	goMod := read(t, "go.mod")
	goMinor := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(goMod)[1]
	required := func(module string) string {
		return regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(module) + ` (v\d+\.\d+)`).FindStringSubmatch(goMod)[1]
	}
	kind := regexp.MustCompile(`(?m)sigs\.k8s\.io/kind (v\d+\.\d+)\.(\d+)`).FindStringSubmatch(goMod)
	for _, wanted := range []struct{ file, text string }{
		{"harness/binaries/version.go", `DefaultVersion = "` + strings.TrimPrefix(supported[0], "v") + `"`},
		{setUp, "go-version: " + goMinor + ".x"},
		{assayAction, "go-version: " + goMinor + ".x"},
		{setUp, "check-latest: true"}, // otherwise a release may contain known vulnerabilities of the standard library
		{"README.md", "Go " + goMinor},
		{"README.md", "| Kubernetes | " + strings.Join(supported, ", ") + " |"},
		{"README.md", "| controller-runtime | " + required("sigs.k8s.io/controller-runtime") + " |"},
		{"README.md", "| Go | " + goMinor + " |"},
		{"README.md", "| kind | " + kind[1] + " |"},
		{"README.md", "| KWOK | " + regexp.MustCompile(`KWOKVersion = "(v\d+\.\d+)`).FindStringSubmatch(read(t, "harness/binaries/bundle.go"))[1] + " |"},
		{".devcontainer/devcontainer.json", "golang:" + goMinor + "-"},
		{"harness/images/noderecipe.go", `kindVersion = "` + kind[1] + "." + kind[2] + `"`},
		{"scripts/release.sh", "--image-user=" + regexp.MustCompile(`(?m)^USER (.*)$`).FindStringSubmatch(read(t, "operator/Dockerfile"))[1]},
	} {
		if !strings.Contains(strings.Join(strings.Fields(strings.ReplaceAll(read(t, wanted.file), "\n//", "\n")), " "), wanted.text) {
			t.Errorf("%s does not have %q", wanted.file, wanted.text)
		}
	}
}
