package project

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/term"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	sigsyaml "sigs.k8s.io/yaml"
)

// Render returns the objects in a kustomization, a folder of manifests or a file. The source "-" is standard input.
func Render(source string) ([]unstructured.Unstructured, error) {
	if source == "-" {
		if term.IsTerminal(int(os.Stdin.Fd())) {
			return nil, fmt.Errorf("standard input is a terminal: pipe the manifests, such as `"+helmCommand+"`", "CHART")
		}
		objects, err := decode("standard input", os.Stdin)
		if err == nil && len(objects) == 0 {
			err = errors.New("standard input contains no manifests: the command that writes them may have failed")
		}
		return objects, err
	}
	if isChart(source) {
		return nil, chartError(source)
	}
	files, err := readFiles(source, "a manifest file or a kustomization directory")
	if err != nil {
		return nil, err
	}
	var objects []unstructured.Unstructured
	for _, file := range files {
		objects = append(objects, file.objects...)
	}
	return objects, nil
}

var kustomizationNames = konfig.RecognizedKustomizationFileNames()

func isKustomization(folder string) bool {
	return slices.ContainsFunc(kustomizationNames, func(name string) bool {
		_, err := os.Stat(filepath.Join(folder, name))
		return err == nil
	})
}

func isKustomizationFile(name string) bool {
	return slices.Contains(kustomizationNames, filepath.Base(name)) && isFile(name)
}

// isComponent reports whether a folder contains a kustomize Component, which cannot be rendered by itself.
func isComponent(folder string) bool {
	return slices.ContainsFunc(kustomizationNames, func(name string) bool {
		text, err := os.ReadFile(filepath.Join(folder, name))
		return err == nil && componentKind.Match(text)
	})
}

// kustomizeFiles renders a kustomization and groups the objects by source file.
func kustomizeFiles(folder string) ([]manifestFile, error) {
	objects, err := kustomize(folder)
	if err != nil {
		return nil, err
	}
	var files []manifestFile
	for _, object := range objects {
		var origin struct{ Path string }
		annotations := object.GetAnnotations()
		_ = sigsyaml.Unmarshal([]byte(annotations[originAnnotation]), &origin) // a generated object has no path
		removeAnnotation(&object, originAnnotation)
		name := filepath.Join(folder, origin.Path)
		at := slices.IndexFunc(files, func(file manifestFile) bool { return file.name == name })
		if at < 0 {
			at, files = len(files), append(files, manifestFile{name: name, folder: folder, isRendered: true})
		}
		files[at].objects = append(files[at].objects, object)
	}
	return files, nil
}

func removeAnnotation(object *unstructured.Unstructured, name string) {
	annotations := object.GetAnnotations()
	delete(annotations, name)
	if len(annotations) == 0 {
		annotations = nil // an empty map would become part of the sample
	}
	object.SetAnnotations(annotations)
}

const originAnnotation = "config.kubernetes.io/origin"

// withOrigins is a file system that turns on kustomize's origin annotations in the kustomization file of folder.
type withOrigins struct {
	filesys.FileSystem
	folder string // absolute
}

// ReadFile implements filesys.FileSystem.
func (w withOrigins) ReadFile(path string) ([]byte, error) {
	text, err := w.FileSystem.ReadFile(path)
	if err != nil || filepath.Dir(path) != w.folder || !slices.Contains(kustomizationNames, filepath.Base(path)) {
		return text, err
	}
	var kustomization map[string]any
	if err := sigsyaml.Unmarshal(text, &kustomization); err != nil || kustomization == nil {
		return text, nil // kustomize reports the error
	}
	metadata, _ := kustomization["buildMetadata"].([]any)
	kustomization["buildMetadata"] = append(metadata, types.OriginAnnotations)
	return sigsyaml.Marshal(kustomization)
}

// objectList matches a JSON list of objects in a kustomize error.
var objectList = regexp.MustCompile(`(?s)\[\{"apiVersion":.*\}\]`)

// objectNames returns the kinds and names of the objects in a list, or the list itself if it is not valid JSON.
func objectNames(list string) string {
	var names []string
	for objects := json.NewDecoder(strings.NewReader(strings.Trim(list, "[]"))); objects.More(); {
		var object unstructured.Unstructured
		if err := objects.Decode(&object.Object); err != nil {
			return list
		}
		names = append(names, object.GetKind()+" "+strings.TrimPrefix(object.GetNamespace()+"/"+object.GetName(), "/"))
	}
	return strings.Join(names, ", ")
}

// kustomizeFlags maps errors about features that are disabled by default to the kustomize flags that enable them.
var kustomizeFlags = map[string]string{"must specify --enable-helm": "--enable-helm", "external plugins disabled": "--enable-alpha-plugins"}

// remote matches kustomize errors about a URL that cannot be read.
var remote = regexp.MustCompile(`Get "https?://|git fetch`)

// kustomize renders a kustomization like `kustomize build`, and annotates each object with its origin.
func kustomize(folder string) ([]unstructured.Unstructured, error) {
	options := krusty.MakeDefaultOptions()
	options.LoadRestrictions = types.LoadRestrictionsNone // the project's files are trusted, even outside of the folder
	root, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	rendered, err := krusty.MakeKustomizer(options).Run(withOrigins{filesys.MakeFsOnDisk(), root}, folder)
	if err != nil {
		for disabled, flag := range kustomizeFlags {
			if strings.Contains(err.Error(), disabled) {
				return nil, fmt.Errorf("%s needs %s: run `kustomize build %[2]s %[1]s >rendered.yaml`, and pass rendered.yaml with --install, --crds or --sample", folder, flag)
			}
		}
		why := objectList.ReplaceAllStringFunc(err.Error(), objectNames)
		why, advice := strings.Join(strings.Fields(why), " "), "correct it"
		why, _, _ = strings.Cut(why, "': must build at directory") // kustomize retries each file as a directory
		if remote.MatchString(why) {
			advice = "make the URL reachable, or replace it with a local copy"
		}
		return nil, fmt.Errorf("kustomize cannot render %s: %s: %s", folder, why, advice)
	}
	text, err := rendered.AsYaml()
	if err != nil {
		return nil, err
	}
	return decode(folder, bytes.NewReader(text))
}

// readFolder decodes the files in a folder and its subfolders, and renders the kustomizations. It skips Helm charts. If
// it finds a chart but no workload, it returns an error, because the workload is probably in the chart.
func readFolder(folder string) ([]manifestFile, error) {
	var files []manifestFile
	chart := ""
	err := filepath.WalkDir(folder+"/", func(path string, entry os.DirEntry, err error) error { // follows a link
		path = filepath.Clean(path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && isKustomization(path) && !isComponent(path):
			rendered, err := kustomizeFiles(path)
			files = append(files, rendered...)
			return cmp.Or(err, filepath.SkipDir)
		case entry.IsDir() && isFile(filepath.Join(path, chartFile)):
			chart = path
			return filepath.SkipDir
		case !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			objects, err := decodeFile(path)
			files = append(files, manifestFile{name: path, folder: filepath.Dir(path), objects: objects})
			return err
		}
		return nil
	})
	hasWorkload := slices.ContainsFunc(files, func(file manifestFile) bool { return slices.ContainsFunc(file.objects, isWorkload) })
	if err == nil && chart != "" && !hasWorkload {
		err = chartError(chart)
	}
	return files, err
}

func decodeFile(path string) ([]unstructured.Unstructured, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return decode(path, file)
}

// notContent matches document end markers and %YAML directives. decode replaces them with document separators.
var notContent = regexp.MustCompile(`(?m)^(\.\.\.|%YAML .*)[ \t\r]*$`)

// setByServer lists the metadata fields that decode removes, because the manifests may have been exported from a
// cluster. The API server rejects a new object with a resourceVersion, and the garbage collector deletes an object
// whose owner does not exist.
var setByServer = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink", "ownerReferences",
	"deletionTimestamp", "deletionGracePeriodSeconds",
}

// decode reads all documents and expands Lists. It skips documents without a kind, such as chart values, and documents
// that are not objects, such as JSON patches.
func decode(name string, stream io.Reader) ([]unstructured.Unstructured, error) {
	text, err := io.ReadAll(stream)
	if err != nil {
		return nil, err
	}
	text = notContent.ReplaceAll(text, []byte("---"))
	var objects []unstructured.Unstructured
	var add func(item runtime.Object) error
	add = func(item runtime.Object) error {
		object := item.(*unstructured.Unstructured)
		switch {
		case object.GetKind() == "":
			return nil
		case object.IsList():
			return object.EachListItem(add)
		}
		if object.GetUID() != "" || object.GetResourceVersion() != "" || object.GetDeletionTimestamp() != nil {
			object.SetFinalizers(nil) // of controllers that do not run here; the operator adds its own again
			removeAnnotation(object, corev1.LastAppliedConfigAnnotation)
		}
		for _, field := range setByServer {
			unstructured.RemoveNestedField(object.Object, "metadata", field)
		}
		objects = append(objects, *object)
		return nil
	}
	for documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var raw runtime.RawExtension
		err := documents.Decode(&raw)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil && bytes.Contains(text, []byte("{{")) {
			return nil, fmt.Errorf("%s: %s: correct it, or render it first if it is a template", name, firstLine(err))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %s: correct it", name, firstLine(err))
		}
		if !bytes.HasPrefix(bytes.TrimSpace(raw.Raw), []byte("{")) {
			continue
		}
		var fields map[string]any
		if err := utiljson.Unmarshal(raw.Raw, &fields); err != nil { // keeps integers as int64
			return nil, fmt.Errorf("%s: %s: correct it", name, firstLine(err))
		}
		if err := add(&unstructured.Unstructured{Object: fields}); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return line
}
