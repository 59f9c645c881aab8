// Package project reads the files of an operator's project, so that users do not have to repeat its configuration. It
// finds the main package to build, and reads the operator's kinds, permissions and command line from the manifests.
//
// The package follows the conventions of kubebuilder and operator-sdk: cmd/main.go or main.go, config/default and
// config/samples. Other manifests, such as a Helm chart, must be rendered first.
package project

import (
	"context"
	"errors"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/operator-assay/assay/harness/process"
)

// Conventional paths in a project.
const (
	DefaultInstall = "config/default"
	DefaultSamples = "config/samples"

	operatorSDKMain = "./cmd/manager" // in projects created by operator-sdk before version 1.0
)

// MainPackage returns the path of the operator's main package, such as ./cmd. If name is not empty, MainPackage checks
// and returns it. Otherwise it returns the package of cmd/main.go or main.go. If neither exists, it returns the only
// main package outside of folders for tests and tools. If there are several, it returns the package that a Dockerfile
// builds or starts, or cmd/manager. If the folder has no main package, MainPackage searches the modules in its
// subfolders.
func MainPackage(ctx context.Context, folder, name string) (string, error) {
	if name != "" {
		name = packageOf(folder, name)
		return name, checkMain(ctx, folder, name)
	}
	if found := conventionalMain(folder); found != "" {
		return found, nil
	}
	packages, err := mainPackages(ctx, folder)
	if len(packages) == 0 {
		packages, err = mainPackagesBelow(ctx, folder, err)
	}
	switch {
	case err != nil:
		return "", err
	case len(packages) == 0:
		return "", fmt.Errorf("no main package in %s: run this in the operator's project directory, or pass the operator's binary with --operator", absolute(folder))
	case len(packages) == 1:
		return packages[0], nil
	}
	for _, files := range [][]string{{"Dockerfile"}, dockerfiles(folder)} {
		if found := packageInImages(folder, files, packages); found != "" {
			return found, nil
		}
	}
	if slices.Contains(packages, operatorSDKMain) {
		return operatorSDKMain, nil
	}
	return "", fmt.Errorf("%d main packages in %s (%s): pass the operator's with --main, or pass its binary with --operator", len(packages), absolute(folder), strings.Join(packages, ", "))
}

// packageInImages returns the only main package that has the same name as a program in the Dockerfiles. If there is no
// such package, it returns the only one whose path occurs in the Dockerfiles.
func packageInImages(folder string, files, packages []string) string {
	named, mentioned := sets.New[string](), sets.New[string]()
	for _, file := range files {
		images, err := readDockerfile(folder, file)
		if err != nil {
			continue
		}
		for _, name := range packages {
			if path.Base(name) == images[0].programName() {
				named.Insert(name)
			}
			if name != "." && images[0].mentions(strings.TrimPrefix(name, "./")) { // every file contains a dot
				mentioned.Insert(name)
			}
		}
	}
	for _, found := range []sets.Set[string]{named, mentioned} {
		if name, isOnly := found.PopAny(); isOnly && found.Len() == 0 {
			return name
		}
	}
	return ""
}

// conventionalMain returns the main package of a project created by kubebuilder. It returns an empty string for other
// projects.
func conventionalMain(folder string) string {
	for _, conventional := range []string{"cmd", "."} {
		if hasMain(filepath.Join(folder, conventional)) {
			return relativePackage(conventional)
		}
	}
	return ""
}

// hasMain reports whether a folder contains a main package with a file main.go that is built on this platform.
func hasMain(folder string) bool {
	found, _ := build.ImportDir(folder, 0) // the build reports errors
	return found.Name == "main" && slices.Contains(slices.Concat(found.GoFiles, found.CgoFiles), "main.go")
}

// mainPackagesBelow returns the main packages of all modules under a folder, as paths relative to that folder. If there
// are no modules, it returns err.
func mainPackagesBelow(ctx context.Context, folder string, err error) ([]string, error) {
	var modules, packages []string
	for file := range files(folder, notOperators) {
		if path.Base(file) == "go.mod" && path.Dir(file) != "." {
			modules = append(modules, path.Dir(file))
		}
	}
	if len(modules) == 0 {
		return nil, err
	}
	for _, module := range modules {
		if found := conventionalMain(filepath.Join(folder, module)); found != "" {
			packages = append(packages, relativePackage(path.Join(module, found)))
		}
	}
	if len(packages) > 0 {
		return packages, nil
	}
	for _, module := range modules {
		found, err := mainPackages(ctx, filepath.Join(folder, module))
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			packages = append(packages, relativePackage(path.Join(module, name)))
		}
	}
	return packages, nil
}

// checkMain returns an error if name is not a main package. It ignores compile errors, which Build reports.
func checkMain(ctx context.Context, folder, name string) error {
	module, inModule := moduleOf(folder, name)
	list := process.Command(ctx, "go", "list", "-f", "{{.Name}}", inModule)
	list.Dir = module
	switch is, err := process.Output(list); {
	case errors.Is(err, exec.ErrNotFound):
		return nil // Build reports this
	case err != nil:
		return fmt.Errorf("%s is not a package: %w", name, err)
	case is != "main":
		return fmt.Errorf("%s is package %s, not a program: use a main package", name, is)
	}
	return nil
}

// packageOf converts a relative folder or Go file to the path of its package. It returns other paths unchanged.
func packageOf(folder, name string) string {
	if strings.HasSuffix(name, ".go") && isFile(filepath.Join(folder, name)) {
		name = filepath.Dir(name)
	}
	if filepath.IsAbs(name) || !isFolder(filepath.Join(folder, name)) {
		return name
	}
	return relativePackage(filepath.Clean(name))
}

// moduleOf returns the folder of the module that contains a package, and the package relative to that folder. The go
// command must run there if the module is in a subfolder of the project and not part of a workspace.
func moduleOf(folder, name string) (module, inModule string) {
	if name != "." && !strings.HasPrefix(name, "./") {
		return folder, name
	}
	for at := path.Clean(name); at != "."; at = path.Dir(at) {
		if _, err := os.Stat(filepath.Join(folder, at, "go.mod")); err == nil {
			below, _ := filepath.Rel(at, path.Clean(name)) // cannot fail: at is a parent of name
			return filepath.Join(folder, at), relativePackage(below)
		}
	}
	return folder, name
}

func relativePackage(folder string) string {
	if folder == "." {
		return folder
	}
	return "./" + filepath.ToSlash(folder)
}

// notOperators matches folders whose programs are not operators, such as development tools and kubectl plugins.
var notOperators = regexp.MustCompile(`(^|/)(tests?|e2e|e2e[-_]tests?|hack|tools|scripts|docs|examples?|vendor|testdata|kubectl-[^/]+)(/|$)`)

func mainPackages(ctx context.Context, folder string) ([]string, error) {
	list := process.Command(ctx, "go", "list", "-e", "-f", `{{if eq .Name "main"}}{{.Dir}}{{end}}`, "./...")
	list.Dir = folder
	out, err := process.Output(list)
	if errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("go, which builds the operator, is not installed: install it, or pass the operator's binary with --operator")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: correct it, or pass the operator's binary with --operator", err)
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
