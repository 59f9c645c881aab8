package project

import (
	"cmp"
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
			broken = cmp.Or(broken, found)
		}
	}
	nearby := search(folder)
	switch {
	case len(nearby.defaults) == 1:
		return filepath.Join(folder, nearby.defaults[0], DefaultInstall), nil
	case broken != "":
		return broken, nil // Render returns the error
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
	overlays []string // folders with kustomizations that change manifests in other folders
	patches  []string // folders whose manifests may be patches: overlays and components
	// manifests contains the folders with a Deployment or StatefulSet that is not a template. Folders that also have a
	// ServiceAccount come first. If a single file in the project's folder contains both the workload and its bindings,
	// manifests contains that file instead of the folder.
	manifests []string
}

var (
	workloadManifest = regexp.MustCompile(`(?m)^kind: *["']?(Deployment|StatefulSet)\b`)
	template         = regexp.MustCompile(`(?m)^[\s-]*(\w+: *\{\{|(name|namespace|image): *["']?(\{\{|\$\{))`) // of Helm, Jinja or a shell
	serviceAccount   = regexp.MustCompile(`(?m)^ *serviceAccount(Name)?:`)
	bindingManifest  = regexp.MustCompile(`(?m)^kind: *["']?(Cluster)?RoleBinding\b`)
	overlay          = regexp.MustCompile(`(^|/)overlays/[^/]+$`)
	otherFolder      = regexp.MustCompile(`(?m)^ *- *["']?\.\./`)
	componentKind    = regexp.MustCompile(`(?m)^kind: *Component\b`)
	library          = regexp.MustCompile(`(?m)^type: *["']?library`)
	hasDependencies  = regexp.MustCompile(`(?m)^dependencies:`)
	yamlFile         = regexp.MustCompile(`\.ya?ml$`)
)

func search(folder string) candidates {
	var found candidates
	var others []string // manifests of programs without a ServiceAccount, which are probably not operators
	for file := range files(folder, notOperators) {
		in, name := path.Dir(file), path.Base(file)
		switch {
		case slices.Contains(kustomizationNames, name) && strings.HasSuffix(in, "/"+DefaultInstall):
			found.defaults = append(found.defaults, strings.TrimSuffix(in, "/"+DefaultInstall))
		case slices.Contains(kustomizationNames, name) && isOverlay(folder, file):
			found.overlays, found.patches = append(found.overlays, in), append(found.patches, in)
		case slices.Contains(kustomizationNames, name):
			if isComponent(filepath.Join(folder, in)) {
				found.patches = append(found.patches, in)
			}
		case yamlFile.MatchString(name):
			text, _ := os.ReadFile(filepath.Join(folder, file)) // ignore unreadable files
			switch {
			case name == chartFile && !found.inChart(file):
				found.charts = append(found.charts, in)
			case workloadManifest.Match(text) && !template.Match(text):
				if in == "." && bindingManifest.Match(text) { // the other files may be unrelated
					in = file
				}
				if serviceAccount.Match(text) {
					found.manifests = append(found.manifests, in)
				} else {
					others = append(others, in)
				}
			}
		}
	}
	found.manifests = append(found.manifests, others...)
	return found
}

func isOverlay(folder, kustomization string) bool {
	text, _ := os.ReadFile(filepath.Join(folder, kustomization)) // ignore unreadable files
	return overlay.MatchString(path.Dir(kustomization)) || otherFolder.Match(text) && !componentKind.Match(text)
}

// advice returns the part of an error message that explains what to do if there is no config/default.
func (c candidates) advice(folder string) string {
	if above := projectAbove(folder); above != "" {
		return "run this in " + above + ", which has one, or " + passManifests
	}
	charts := slices.DeleteFunc(slices.Clone(c.charts), func(chart string) bool {
		text, err := os.ReadFile(filepath.Join(folder, chart, chartFile))
		return err == nil && library.Match(text)
	})
	switch manifests := c.folders(); {
	case len(manifests) > 0:
		return fmt.Sprintf(passManifests+"; there are Deployments in %s", list(manifests))
	case len(charts) == 1:
		return chartError(filepath.Join(folder, charts[0])).Error()
	case len(charts) > 1:
		return fmt.Sprintf("%s are Helm charts: for the operator's, run `%s`", list(charts), helmCommand("CHART"))
	}
	return "run this in the operator's project directory, or pass its kustomization directory or manifest file with --install"
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

// folders returns the folders to suggest to the user: first the overlays, and then those with complete manifests.
func (c candidates) folders() []string {
	plain := slices.DeleteFunc(slices.Clone(c.manifests), func(in string) bool { return slices.Contains(c.patches, in) })
	var found []string
	for _, in := range slices.Concat(c.overlays, plain) {
		if !c.inChart(in) && !slices.Contains(found, in) {
			found = append(found, in)
		}
	}
	return found
}

func (c candidates) inChart(file string) bool {
	return slices.ContainsFunc(c.charts, func(chart string) bool {
		return strings.HasPrefix(file+"/", chart+"/") || chart == "." && (strings.HasPrefix(file+"/", "templates/") || strings.HasPrefix(file, "charts/"))
	})
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

// chartOf returns the Helm chart that contains source, or an empty string. Files in a chart's crds folder are not
// considered part of the chart, because they are not templates.
func chartOf(source string) string {
	if strings.HasSuffix(source, ".tgz") || strings.HasPrefix(source, "oci://") {
		return source
	}
	at := filepath.Clean(source)
	if slices.Contains([]string{chartFile, "values.yaml"}, filepath.Base(at)) {
		at = filepath.Dir(at)
	}
	if below := strings.LastIndex("/"+at+"/", "/templates/"); below >= 0 {
		at = (at + "/")[:below]
	}
	if at = filepath.Clean(at); isFile(filepath.Join(at, chartFile)) && !isKustomization(at) {
		return at
	}
	return ""
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

func helmCommand(chart string) string {
	download := ""
	if text, err := os.ReadFile(filepath.Join(chart, chartFile)); err == nil && hasDependencies.Match(text) && !isFolder(filepath.Join(chart, "charts")) {
		download = "helm dependency build " + chart + " && "
	}
	return download + "helm template --include-crds " + chart + " | assay explore --install -"
}

func chartError(chart string) error {
	return fmt.Errorf("%s is a Helm chart: run `%s`", chart, helmCommand(chart))
}

// files yields the relative paths of the files in a folder and up to four levels of subfolders. It skips hidden
// folders, node_modules, and folders that match excluded.
func files(folder string, excluded *regexp.Regexp) iter.Seq[string] {
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
			if relative != "." && (isHidden || excluded.MatchString(relative) || strings.Count(relative, "/") > 3) {
				return filepath.SkipDir
			}
			return nil
		})
	}
}
