// Package project reads the files of an operator's project, so that users do not have to configure the same things
// again. It finds the package to build. From the manifests it learns which kinds the operator serves, which
// permissions it has and how it is started.
//
// The package follows the conventions of kubebuilder and operator-sdk: cmd/main.go or main.go, config/default and
// config/samples. Other manifests, such as those of a Helm chart, can be used after they are rendered.
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

// Conventional paths in a project.
const (
	DefaultInstall = "config/default"
	DefaultSamples = "config/samples"
)

// FindInstall returns the folder of the kustomization that installs the operator: config/default or the project's
// folder. It returns an empty string if neither contains a kustomization.
func FindInstall(folder string) string {
	for _, in := range []string{DefaultInstall, "."} {
		if joined := filepath.Join(folder, in); isKustomization(joined) {
			return joined
		}
	}
	return ""
}

// MainPackage returns the path of the operator's main package, such as ./cmd. If name is not empty, MainPackage
// checks and returns it. Otherwise it returns the package of cmd/main.go or main.go. If neither exists, it returns
// the only main package outside of folders for tests and tools. If there are several, it returns the one that is
// named like the entry point of the Dockerfile.
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

// checkMain returns an error if name is not a main package. It ignores compile errors, which Build reports.
func checkMain(ctx context.Context, folder, name string) error {
	list := process.Command(ctx, "go", "list", "-f", "{{.Name}}", name)
	list.Dir = folder
	switch is, err := process.Output(list); {
	case errors.Is(err, exec.ErrNotFound):
		return nil // Build reports this
	case err != nil:
		return fmt.Errorf("%s is no package: %w", name, err)
	case is != "main":
		return fmt.Errorf("%s is package %s, and no program: name a main package", name, is)
	}
	return nil
}

// relativePackage converts the path of a folder to a package path for the go command.
func relativePackage(folder string) string {
	if folder == "." {
		return folder
	}
	return "./" + filepath.ToSlash(folder)
}

// notOperators matches folders that contain programs for development.
var notOperators = regexp.MustCompile(`(^|/)(test|tests|e2e|hack|tools|scripts|docs|examples?|vendor|testdata)(/|$)`)

// mainPackages returns the main packages of a module. The paths are relative to the folder.
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

// entryPoint returns the base name of the program in the last ENTRYPOINT of a Dockerfile.
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

// Build builds a main package with the user's Go toolchain and settings. Temporary files are created in the folder of
// the binary, so that they are removed together with that folder if the build is interrupted. The first line of the
// error names the package; the remaining lines are the output of the compiler.
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
