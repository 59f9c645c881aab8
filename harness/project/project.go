// Package project reads what an operator's project says about it, so that nobody has to say it again: what to build,
// and from the manifests that install it, what it serves, what it may do and how it is started.
//
// The conventions are those of kubebuilder and operator-sdk: cmd/main.go or main.go, config/default, config/samples.
// Manifests from elsewhere, such as a Helm chart's, are read alike once they are rendered.
package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/process"
)

// The conventional places in a project's folder.
const (
	DefaultInstall = "config/default"
	DefaultSamples = "config/samples"
)

// FindInstall returns the kustomization that installs the operator of a project: config/default, or the project's folder
// itself. It returns an empty string if there is none.
func FindInstall(folder string) string {
	for _, in := range []string{DefaultInstall, "."} {
		if joined := filepath.Join(folder, in); isKustomization(joined) {
			return joined
		}
	}
	return ""
}

// MainPackage returns the path of the package that is the operator, such as ./cmd: the named one if that can be built to a
// program, and without a name that of cmd/main.go, of main.go, or the one main package outside of folders for tests and
// tools. Of several it takes the one that the Dockerfile's entry point is named after.
func MainPackage(ctx context.Context, folder, name string) (string, error) {
	if name != "" {
		return name, checkMain(ctx, folder, name)
	}
	for _, conventional := range []string{"cmd", "."} {
		if _, err := os.Stat(filepath.Join(folder, conventional, "main.go")); err == nil {
			return relativePackage(conventional), nil
		}
	}
	packages, err := mainPackages(ctx, folder)
	if err != nil {
		return "", err
	}
	if len(packages) > 1 {
		entry := entryPoint(filepath.Join(folder, "Dockerfile"))
		if named := slices.IndexFunc(packages, func(p string) bool { return path.Base(p) == entry }); named >= 0 {
			return packages[named], nil
		}
		return "", fmt.Errorf("there are %d main packages (%s): name the operator's with --main, or give its binary with --operator", len(packages), strings.Join(packages, ", "))
	}
	if len(packages) == 0 {
		return "", errors.New("there is no main package here: run this in the folder of the operator's project, or give its binary with --operator")
	}
	return packages[0], nil
}

// checkMain rejects a package that is no program. What does not compile is for Build to tell.
func checkMain(ctx context.Context, folder, name string) error {
	list := process.Command(ctx, "go", "list", "-f", "{{.Name}}", name)
	list.Dir = folder
	switch is, err := process.Output(list); {
	case errors.Is(err, exec.ErrNotFound):
		return nil // Build tells
	case err != nil:
		return fmt.Errorf("%s is no package: %w", name, err)
	case is != "main":
		return fmt.Errorf("%s is package %s, and no program: name a main package", name, is)
	}
	return nil
}

// relativePackage is the package of a folder, as Go's command line wants it.
func relativePackage(folder string) string {
	if folder == "." {
		return folder
	}
	return "./" + filepath.ToSlash(folder)
}

// notOperators are folders of programs that help with development.
var notOperators = regexp.MustCompile(`(^|/)(test|tests|e2e|hack|tools|scripts|docs|examples?|vendor|testdata)(/|$)`)

// mainPackages lists the main packages of a module, as paths relative to its folder.
func mainPackages(ctx context.Context, folder string) ([]string, error) {
	list := process.Command(ctx, "go", "list", "-e", "-f", `{{if eq .Name "main"}}{{.Dir}}{{end}}`, "./...")
	list.Dir = folder
	out, err := process.Output(list)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("go is not installed, which builds the operator: install it, or give the operator's binary with --operator")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: correct it, or give the operator's binary with --operator", err)
	}
	top, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if top, err = filepath.EvalSymlinks(top); err != nil {
		return nil, err
	}
	var packages []string
	for found := range strings.FieldsSeq(out) {
		relative, err := filepath.Rel(top, found)
		if err == nil && !notOperators.MatchString(filepath.ToSlash(relative)) {
			packages = append(packages, relativePackage(relative))
		}
	}
	return packages, nil
}

// entryPoint returns the base name of the program that a Dockerfile's last ENTRYPOINT starts.
func entryPoint(dockerfile string) string {
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		return ""
	}
	found := regexp.MustCompile(`(?m)^ENTRYPOINT\s+\[?\s*"?([^\s",\]]+)`).FindAllStringSubmatch(string(text), -1)
	if len(found) == 0 {
		return ""
	}
	return path.Base(found[len(found)-1][1])
}

// Build builds a main package with the user's own Go and settings. Files that it needs on its way are in the binary's
// folder, so that whoever removes that leaves nothing of a build that was interrupted. The error's first line says what does
// not build, and the others are the compiler's.
func Build(ctx context.Context, folder, mainPackage, binary string) error {
	if _, err := exec.LookPath("go"); err != nil {
		return errors.New("go is not installed, which builds the operator: install it, or give a binary as operator")
	}
	build := process.Command(ctx, "go", "build", "-o", binary, mainPackage)
	build.Dir = folder
	build.Env = append(os.Environ(), "GOTMPDIR="+filepath.Dir(binary))
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s does not build (%w): correct it, or give a binary as operator\n%s", mainPackage, err, strings.TrimSpace(string(out)))
	}
	return nil
}
