package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
)

var (
	nodeImage = regexp.MustCompile(`kindest/node:(v[\d.]+)@sha256:[0-9a-f]{64}`)
	byDefault = regexp.MustCompile(`const DefaultVersion = "(.*)"`)
)

// unsupported is where the parts of the repository do not mean the same Kubernetes versions: those of the
// matrix of `test`, which are the supported ones.
func (r repository) unsupported(w *workflow) []string {
	if w.Jobs["test"] == nil || w.Jobs["e2e-kind"] == nil {
		return []string{"ci.yaml: there is no job test, or e2e-kind, to read the versions from"}
	}
	var problems []string
	var supported []string
	for _, p := range w.Jobs["test"].Strategy.Matrix.parts() {
		supported = append(supported, p["kubernetes"])
	}
	images := map[string]string{} // those of the matrix of e2e-kind, by their versions
	for _, p := range w.Jobs["e2e-kind"].Strategy.Matrix.parts() {
		images[p["kubernetes"]] = p["node-image"]
	}
	known := map[string]string{} // those that package cluster prefers
	for _, image := range nodeImage.FindAllStringSubmatch(r[nodeImages], -1) {
		known[image[1]] = image[0]
	}
	if !maps.Equal(images, known) {
		problems = append(problems, fmt.Sprintf("ci.yaml: e2e-kind runs on %v, but %s has %v", images, nodeImages, known))
	}
	if versions := slices.Collect(maps.Keys(images)); !slices.Equal(sorted(versions), sorted(supported)) {
		problems = append(problems, fmt.Sprintf("ci.yaml: test is on %v, but e2e-kind on %v", supported, versions))
	}
	if newest := byDefault.FindStringSubmatch(r[defaultVersion]); newest == nil || len(supported) == 0 || "v"+newest[1] != sorted(supported)[0] {
		problems = append(problems, fmt.Sprintf("ci.yaml: the newest version of %v is not the default of %s", supported, defaultVersion))
	}
	return append(problems, gaps(sorted(supported))...)
}

var goMinor = regexp.MustCompile(`(?m)^go (\d+\.\d+)`)

// unpatched is where Go is not the newest patch of the minor that go.mod asks for: a release would be of a
// standard library whose holes are known.
func (r repository) unpatched() []string {
	minor := goMinor.FindStringSubmatch(r["go.mod"])
	if minor == nil {
		return []string{"go.mod names no Go"}
	}
	var problems []string
	if !strings.Contains(r[setUp], "go-version: "+minor[1]+".x") || !strings.Contains(r[setUp], "check-latest: true") {
		problems = append(problems, setUp+": it is not the newest patch of Go "+minor[1]+" that is set up")
	}
	if !strings.Contains(r["README.md"], "Go "+minor[1]) {
		problems = append(problems, "README.md does not say that Go "+minor[1]+" is needed")
	}
	return problems
}

// gaps are what keeps versions from being one minor and the two before it.
func gaps(versions []string) []string {
	if len(versions) != 3 {
		return []string{fmt.Sprintf("ci.yaml: test is on %v, not on three minors", versions)}
	}
	for i, version := range versions {
		if minorOf(version) != minorOf(versions[0])-i {
			return []string{fmt.Sprintf("ci.yaml: %s are not one minor and the two before it", strings.Join(versions, ", "))}
		}
	}
	return nil
}

// minorOf is 37 for v1.37.0, and -1 for what is no version.
func minorOf(version string) int {
	minor, err := strconv.Atoi(strings.TrimPrefix(semver.MajorMinor(version), "v1."))
	if err != nil {
		return -1
	}
	return minor
}

// sorted lists versions, the newest first.
func sorted(versions []string) []string {
	newestFirst := slices.Clone(versions)
	semver.Sort(newestFirst)
	slices.Reverse(newestFirst)
	return newestFirst
}
