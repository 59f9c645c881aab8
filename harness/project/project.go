// Package project reads the files of an operator's project, so that users do not have to repeat its configuration. It
// finds the main package to build, and reads the operator's kinds, permissions and command line from the manifests.
//
// The package follows the conventions of kubebuilder and operator-sdk: cmd/main.go or main.go, config/default and
// config/samples. Other manifests, such as a Helm chart, must be rendered first.
package project

import (
	"fmt"
	"go/build"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
)

// Conventional paths in a project.
const (
	DefaultInstall = "config/default"
	DefaultSamples = "config/samples"

	operatorSDKMain = "./cmd/manager" // in projects created by operator-sdk before version 1.0
)

// MainPackage returns the path of the operator's main package, such as ./cmd. If name is not empty, MainPackage checks
// and returns it. Otherwise it returns the package of cmd/main.go or main.go. If neither exists, it searches for main
// packages outside of folders for tests and tools. If it finds several, it prefers packages in the folder's own module
// (or in any module, if the folder is in none), then the package that a Dockerfile builds or starts, and then
// ./cmd/manager.
func MainPackage(folder, name string) (string, error) {
	if name != "" {
		return namedMain(folder, name)
	}
	if found := conventionalMain(folder); found != "" {
		return found, nil
	}
	packages, hasModule := mainPackages(folder), isInModule(absolute(folder))
	for _, isLikely := range []func(module, inModule string) bool{
		func(module, _ string) bool { return (module == folder) == hasModule },
		func(module, inModule string) bool { return inModule == conventionalMain(module) },
	} {
		likely := slices.DeleteFunc(slices.Clone(packages), func(name string) bool { return !isLikely(moduleOf(folder, name)) })
		if len(likely) > 0 {
			packages = likely
		}
	}
	switch len(packages) {
	case 0:
		if _, err := os.Stat(filepath.Join(folder, "watches.yaml")); err == nil {
			return "", fmt.Errorf("%s has a watches.yaml but no main package: pass the program that reads it, such as bin/helm-operator, with --operator", absolute(folder))
		}
		return "", fmt.Errorf("no main package in %s: run this in the operator's project directory, or pass its main package with --main, or its binary with --operator", absolute(folder))
	case 1:
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

// packageInImages returns the main package that has the same name as a program in the Dockerfiles. If there is not
// exactly one, it returns the only main package whose path occurs in the Dockerfiles, or an empty string.
func packageInImages(folder string, files, packages []string) string {
	for _, isIn := range []func(Image, string) bool{
		func(image Image, name string) bool { return path.Base(name) == image.programName() },
		func(image Image, name string) bool { // every Dockerfile contains a dot
			return name != "." && image.mentions(strings.TrimPrefix(name, "./"))
		},
	} {
		found := slices.DeleteFunc(slices.Clone(packages), func(name string) bool {
			return !slices.ContainsFunc(files, func(file string) bool {
				images, err := readDockerfile(folder, file)
				return err == nil && isIn(images[0], name)
			})
		})
		if len(found) == 1 {
			return found[0]
		}
	}
	return ""
}

// conventionalMain returns the main package of a project created by kubebuilder, or an empty string.
func conventionalMain(folder string) string {
	for _, conventional := range []string{"cmd", "."} {
		found, _ := build.ImportDir(filepath.Join(folder, conventional), 0) // the build reports errors
		if found.Name == "main" && slices.Contains(slices.Concat(found.GoFiles, found.CgoFiles), "main.go") {
			return relativePackage(conventional)
		}
	}
	return ""
}

// namedMain returns the main package in the named folder, or in the folder that contains the named Go file.
func namedMain(folder, name string) (string, error) {
	if below, err := filepath.Rel(absolute(folder), name); err == nil && filepath.IsAbs(name) {
		name = below
	}
	if strings.HasSuffix(name, ".go") && isFile(filepath.Join(folder, name)) {
		name = filepath.Dir(name)
	}
	name = relativePackage(filepath.Clean(name))
	switch found, _ := build.ImportDir(filepath.Join(folder, name), 0); found.Name {
	case "main":
		return name, nil
	case "":
		return "", fmt.Errorf("%s is not a package: use the directory of a main package", name)
	default:
		return "", fmt.Errorf("%s is package %s, not a program: use a main package", name, found.Name)
	}
}

// moduleOf returns the folder of the module that contains a package, and the package relative to that folder. The go
// command must run there if the module is in a subfolder of the project and not part of a workspace.
func moduleOf(folder, name string) (module, inModule string) {
	for at := path.Clean(name); at != "."; at = path.Dir(at) {
		if _, err := os.Stat(filepath.Join(folder, at, "go.mod")); err == nil {
			below, _ := filepath.Rel(at, path.Clean(name)) // cannot fail: at is a parent of name
			return filepath.Join(folder, at), relativePackage(below)
		}
	}
	return folder, name
}

// isInModule reports whether the folder or one of its parents contains go.mod. The folder must be an absolute path.
func isInModule(folder string) bool {
	return isFile(filepath.Join(folder, "go.mod")) || filepath.Dir(folder) != folder && isInModule(filepath.Dir(folder))
}

func relativePackage(folder string) string {
	if folder == "." {
		return folder
	}
	return "./" + filepath.ToSlash(folder)
}

// notOperators matches folders whose programs are not operators, such as development tools and kubectl plugins.
var notOperators = regexp.MustCompile(`(^|/)(tests?|e2e|e2e[-_]tests?|hack|tools|scripts|docs|examples?|vendor|testdata|_[^/]*|kubectl-[^/]+)(/|$)`)

// mainPackages returns the main packages in the folder and its subfolders. They can belong to different modules.
func mainPackages(folder string) []string {
	var packages []string
	searched := sets.New[string]()
	for file := range files(folder, notOperators, math.MaxInt) {
		in := path.Dir(file)
		if !strings.HasSuffix(file, ".go") || searched.Has(in) {
			continue
		}
		searched.Insert(in)
		found, _ := build.ImportDir(filepath.Join(folder, in), 0) // the build reports errors
		if found.Name == "main" && len(found.GoFiles)+len(found.CgoFiles) > 0 {
			packages = append(packages, relativePackage(in))
		}
	}
	return packages
}
