package project

import (
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// FindInstall returns the folder of the kustomization that installs the operator: config/default, the project's folder,
// config, or the only config/default in a subfolder. If there is none, the error suggests other manifests in the
// project.
func FindInstall(folder string) (string, error) {
	folder = filepath.Join(folder, ".")
	if found := filepath.Join(folder, DefaultInstall); isKustomization(found) {
		return found, nil
	}
	broken, above := "", projectAbove(folder)
	inConfig := above != "" && strings.HasPrefix(absolute(folder), absolute(filepath.Join(folder, above, "config"))+string(filepath.Separator))
	for _, found := range []string{folder, filepath.Join(folder, "config")} {
		if !isKustomization(found) || inConfig {
			continue
		}
		objects, err := kustomize(found)
		if slices.ContainsFunc(objects, isWorkload) {
			return found, nil
		}
		if err != nil {
			broken = found
		}
	}
	switch nearby := search(folder); {
	case len(nearby.defaults) == 1:
		return filepath.Join(folder, nearby.defaults[0], DefaultInstall), nil
	case broken != "":
		return broken, nil // Render returns the error
	case len(nearby.defaults) == 0 && above != "":
		return "", fmt.Errorf("no %s in %s: run this in %s, which has one, or "+passManifests, DefaultInstall, absolute(folder), above)
	case len(nearby.defaults) == 0:
		return "", fmt.Errorf("no %s in %s: %s", DefaultInstall, absolute(folder), nearby.advice(folder))
	default:
		return "", fmt.Errorf("no %s in %s, only in %s: run this in one of these directories, or "+passManifests, DefaultInstall, absolute(folder), list(nearby.defaults))
	}
}

func isWorkload(object unstructured.Unstructured) bool {
	return object.GetKind() == "Deployment" || object.GetKind() == "StatefulSet"
}

// candidates holds the relative paths of folders that may contain the operator's manifests.
type candidates struct {
	defaults []string // folders that contain config/default
	charts   []string // folders of Helm charts
	// manifests contains other folders with an untemplated manifest of a Deployment or StatefulSet, or with an overlay. An
	// overlay is a kustomization that lists a path starting with ../. A file at the top level of the project is listed by
	// its name.
	manifests []string
}

var (
	workloadManifest = regexp.MustCompile(`(?m)^kind: *["']?(Deployment|StatefulSet)\b`)
	template         = regexp.MustCompile(`(?m)^[\s-]*(\w+: *\{\{|(name|namespace|image): *["']?(\{\{|\$\{))`) // of Helm, Jinja or a shell
	otherFolder      = regexp.MustCompile(`(?m)^ *- *["']?\.\./`)
	componentKind    = regexp.MustCompile(`(?m)^kind: *Component\b`)
	yamlFile         = regexp.MustCompile(`\.ya?ml$`)
)

func search(folder string) (found candidates) {
	for file := range files(folder, notOperators, maxLevels) {
		in, name := path.Dir(file), path.Base(file)
		isKustomization := slices.Contains(kustomizationNames, name)
		if !isKustomization && !yamlFile.MatchString(name) || found.inChart(in) {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(folder, file)) // ignore unreadable files
		switch project, isDefault := strings.CutSuffix(in, "/"+DefaultInstall); {
		case isKustomization && isDefault:
			found.defaults = append(found.defaults, project)
		case name == chartFile:
			found.charts = append(found.charts, in)
		case isKustomization && otherFolder.Match(text), workloadManifest.Match(text) && !template.Match(text):
			if in == "." { // the other files may be unrelated
				in = file
			}
			if !slices.Contains(found.manifests, in) {
				found.manifests = append(found.manifests, in)
			}
		}
	}
	return found
}

// advice returns the part of an error message that explains what to do if there is no config/default.
func (c candidates) advice(folder string) string {
	switch {
	case len(c.manifests) > 0:
		return fmt.Sprintf(passManifests+"; there are Deployments in %s", list(c.manifests))
	case len(c.charts) == 1:
		return chartError(filepath.Join(folder, c.charts[0])).Error()
	case len(c.charts) > 1:
		return fmt.Sprintf("%s are Helm charts: for the operator's, run `"+helmCommand+"`", list(c.charts), "CHART")
	}
	return "run this in the operator's project directory, or pass its kustomization directory or manifest file with --install"
}

func (c candidates) inChart(folder string) bool {
	return slices.ContainsFunc(c.charts, func(chart string) bool {
		isPart := chart == "." && (strings.HasPrefix(folder+"/", "templates/") || strings.HasPrefix(folder, "charts/"))
		return isPart || strings.HasPrefix(folder+"/", chart+"/")
	})
}

// projectAbove returns the relative path of the nearest parent folder that contains config/default, or an empty string.
func projectAbove(folder string) string {
	above := ".."
	for range 4 {
		if isKustomization(filepath.Join(folder, above, DefaultInstall)) {
			return above
		}
		above = path.Join(above, "..")
	}
	return ""
}

const passManifests = "pass the operator's kustomization directory or manifest file with --install"

func absolute(folder string) string {
	if full, err := filepath.Abs(folder); err == nil {
		return full
	}
	return folder
}

func list(names []string) string {
	const most = 5
	if len(names) > most {
		names = append(slices.Clone(names[:most]), "…")
	}
	return strings.Join(names, ", ")
}

const chartFile = "Chart.yaml"

// isChart reports whether source is a Helm chart. A folder with a kustomization is not a chart, because it is rendered
// without Helm.
func isChart(source string) bool {
	isPacked := strings.HasSuffix(source, ".tgz") || strings.HasPrefix(source, "oci://")
	return isPacked || isFile(filepath.Join(source, chartFile)) && !isKustomization(source)
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

const helmCommand = "helm template --include-crds %s | assay explore --install -"

func chartError(chart string) error {
	return fmt.Errorf("%s is a Helm chart: run `"+helmCommand+"`", chart, chart)
}

// maxLevels is the number of subfolder levels that are searched for files other than Go files.
const maxLevels = 4

// files yields the relative paths of the files in a folder and its subfolders, down to the given number of levels. It
// skips hidden folders, node_modules, and folders whose relative paths match the pattern.
func files(folder string, excluded *regexp.Regexp, levels int) iter.Seq[string] {
	folder = filepath.Join(folder, ".")
	return func(yield func(string) bool) {
		_ = filepath.WalkDir(folder+"/", func(file string, entry fs.DirEntry, err error) error { // follows a link
			if err != nil {
				return nil // continue with the other folders
			}
			relative, _ := filepath.Rel(folder, file) // cannot fail: file is below folder
			relative = filepath.ToSlash(relative)
			if !entry.IsDir() {
				if !yield(relative) {
					return filepath.SkipAll
				}
				return nil
			}
			isHidden := strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"
			if relative != "." && (isHidden || excluded.MatchString(relative) || strings.Count(relative, "/") >= levels) {
				return filepath.SkipDir
			}
			return nil
		})
	}
}
